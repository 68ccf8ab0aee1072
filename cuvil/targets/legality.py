"""What is legal where: the ops that may stand in a module after each stage of a target's pipeline, as data.

The last link of the verification chain (SSA and dominance, types and shapes, closed attributes, lifetimes, layouts,
then this): `verify_stage(module, "fuse")` raises at the first op that the stage should have left nothing of. The
compile driver runs it at the end of each stage, `verify=True` and tests after every pass too.

A row says which ops may appear (by name, or a dialect's name with a dot for all of it) and which of those may not. Ops
inside a `cuvil_fused.kernel`'s region and inside a global's initializer are always core `cuvil_tensor`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from cuvil.errors import VerificationError

_CONTROL = ("builtin.module", "func.", "scf.", "cf.", "arith.", "tensor.extract")
_COMPOSITES = frozenset(
    f"cuvil_tensor.{name}"
    for name in (
        "softmax",
        "log_softmax",
        "layer_norm",
        "rms_norm",
        "batch_norm",
        "group_norm",
        "gelu",
        "silu",
        "linear",
        "rope",
    )
)
"""Composites that `decompose` takes apart; attention stays whole down to its kernel."""


@dataclass(frozen=True)
class Legality:
    """The ops that may stand in a module: those `allowed` and not `refused`; `remedy` names the passes for that."""

    allowed: tuple[str, ...]
    refused: frozenset[str] = frozenset()
    remedy: str = ""

    def allows(self, op: Operation) -> bool:
        """Whether `op` may be there."""
        name = op.name
        if name in self.refused:
            return False
        return any(name == row or (row.endswith(".") and name.startswith(row)) for row in self.allowed)


_TENSOR = (*_CONTROL, "cuvil_tensor.")
_KERNELS = (
    *_CONTROL,
    "cuvil_fused.kernel",
    "cuvil_tensor.global",
    "cuvil_tensor.parameter",
    "cuvil_tensor.constant",
    "cuvil_tensor.size",
)
_BUFFERS = (
    *(row for row in _CONTROL if row != "tensor.extract"),
    "memref.load",
    "memref.store",
    "cuvil_fused.",
    "cuvil_tensor.global",
    "cuvil_tensor.size",
)

LEGAL: dict[str, Legality] = {
    "import": Legality(_TENSOR),
    "normalize": Legality(_TENSOR, _COMPOSITES, "decompose"),
    "layout": Legality(_TENSOR, _COMPOSITES, "decompose"),
    "fuse": Legality(_KERNELS, remedy="fuse, pack-weights, hoist-parameters"),
    "memory": Legality(_BUFFERS, frozenset(("cuvil_fused.alloc", "cuvil_fused.free")), remedy="bufferize, plan-memory"),
    "loops": Legality(
        (
            *(row for row in _CONTROL if row not in ("tensor.extract", "cf.")),
            "memref.",
            "vector.",
            "cuvil_vector.",
            "math.fma",
            "math.sqrt",
            "math.absf",
            "math.absi",
            "math.floor",
            "math.ceil",
            "math.trunc",
            "math.round",
            "math.roundeven",
            "math.copysign",
            "math.ctpop",
            "math.ctlz",
            "math.cttz",
        ),
        remedy="lower-fused-to-loops, lower-math",
    ),
    "llvm": Legality(("builtin.module", "llvm.", "cuvil_llvm."), remedy="lower-loops-to-llvm"),
}
"""What is legal after each stage of the cpu pipeline, by the stage's name."""


def verify_stage(module: ModuleOp, stage: str) -> None:
    """Check that only what `stage` ensures is left. Raises `VerificationError` at the first op that is not legal.

    A stage that the table does not name allows everything.
    """
    legality = LEGAL.get(stage)
    if legality is None:
        return
    for op in _outside_kernels(module):
        if not legality.allows(op):
            raise VerificationError(
                f"{op.name}: is not legal after stage '{stage}'"
                + (f"; it should be gone after {legality.remedy}" if legality.remedy else ""),
                op,
            )


def _outside_kernels(op: Operation) -> Iterator[Operation]:
    """Every op of a module in order, but not those inside kernels and initializers."""
    stack = [op]
    while stack:
        current = stack.pop()
        yield current
        if current.name in ("cuvil_fused.kernel", "cuvil_tensor.global"):
            continue
        inner = [child for region in current.regions for block in region.blocks for child in block.ops]
        stack.extend(reversed(inner))
