"""`--validate` catches broken passes and names them, at every level: tensors, the arena, loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

import cuvil
from cuvil.dialects import tensor as ct
from cuvil.dialects.fused import ArenaViewOp
from cuvil.errors import ValidationError
from cuvil.pipeline import Pipeline


@dataclass(frozen=True)
class DropsAnOperation(ModulePass):
    name: ClassVar[str] = "drops-an-operation"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        dropped = next(inner for inner in op.walk() if isinstance(inner, ct.UnaryOp))
        dropped.result.replace_all_uses_with(dropped.input)
        _erase(dropped)


@dataclass(frozen=True)
class OverlapsBuffers(ModulePass):
    name: ClassVar[str] = "overlaps-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for view in [inner for inner in op.walk() if isinstance(inner, ArenaViewOp)][1:]:
            view.properties["offset_bytes"] = next(
                inner.properties["offset_bytes"] for inner in op.walk() if isinstance(inner, ArenaViewOp)
            )


@dataclass(frozen=True)
class SubtractsForAdds(ModulePass):
    name: ClassVar[str] = "subtracts-for-adds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        added = next(inner for inner in op.walk() if isinstance(inner, arith.AddfOp))
        block = added.parent
        assert block is not None
        made = arith.SubfOp(added.lhs, added.rhs)
        block.insert_op_before(made, added)
        added.result.replace_all_uses_with(made.result)
        _erase(added)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(self.a(x))
        return self.c(self.b(y.softmax(1)).softmax(1)) + y


BROKEN = [
    (DropsAnOperation, "generalize"),
    (OverlapsBuffers, "plan-memory"),
    (SubtractsForAdds, "lower-fused-to-loops"),
]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    for kind, _ in BROKEN:
        cuvil.register_pass(kind)
    yield
    for kind, _ in BROKEN:
        cuvil.unregister_pass(kind.name)


@pytest.mark.parametrize(("kind", "after"), BROKEN)
def test_a_broken_pass_is_caught_and_named(kind: type[ModulePass], after: str) -> None:
    torch.manual_seed(0)
    pipeline = Pipeline.of("cpu").insert_after(after, kind.name)
    with pytest.raises(ValidationError, match=f"pass '{kind.name}' changes what @main computes"):
        cuvil.compile(Model().eval(), (torch.randn(4, 6),), pipeline=pipeline, options={"validate": True})
