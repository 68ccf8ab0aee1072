"""Branches on tensor values: `scf.if` with everything that its ways change as results. Loops are in `loops`.

Both ways of a branch run from the same state: the containers that the function's frames reach (variables are one),
and the memory of tensors. What then differs becomes a result; a difference that no tensor can carry (a string, a
list of another length) is a `Clash`, an error where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Region, SSAValue

from cuvil.errors import UnsupportedError
from cuvil.frontends.source import structures
from cuvil.frontends.source.choices import Alternative
from cuvil.frontends.source.numbers import DTYPES, Number, as_number, number_of_tensor
from cuvil.frontends.source.trace import Memory, Tracer, memory_of
from cuvil.frontends.strided import Geometry

_NUMBERS = (bool, int, float)


class Absent:
    """No value: what a path that does not return has in the place of a result."""


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class Clash:
    """A value that differs between paths as nothing can carry; `reason` is the error of its use."""

    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How statements ended: `broke` out of the loop, `returned` a value, or ran to their end; flags may be Numbers."""

    broke: Any = False
    returned: Any = False
    value: Any = ABSENT

    @property
    def is_plain(self) -> bool:
        """True if the statements ran to their end, whatever the tensors hold."""
        return self.broke is False and self.returned is False

    @property
    def is_mixed(self) -> bool:
        """True if the tensors decide."""
        return isinstance(self.broke, Number) or isinstance(self.returned, Number)


@dataclass
class State:
    """What a program has at one point: the contents of containers and of memory."""

    held: list[tuple[Any, dict[Any, Any]]]
    memory: Memory

    @staticmethod
    def of(tracer: Tracer, found: Sequence[Any]) -> State:
        """The present state of containers."""
        return State([(each, structures.contents(each)) for each in found], tracer.memory.copy())

    def restore(self, tracer: Tracer) -> None:
        """Make this the present state again."""
        for container, held in self.held:
            structures.refill(container, held)
        tracer.memory = self.memory.copy()


@dataclass
class Side:
    """One way of a branch, or a loop's body: where it was emitted and what it left."""

    tracer: Tracer
    block: Block
    state: State
    result: Any

    def ssa(self, value: Any) -> SSAValue:
        """A tensor's or number's value there."""
        return _within(self.tracer, self.block, self.state.memory, lambda: ssa_of(self.tracer, value))

    def within(self, emit: Callable[[], Any]) -> Any:
        """What is emitted there."""
        return _within(self.tracer, self.block, self.state.memory, emit)

    def base(self, memory: int) -> SSAValue:
        """A memory's value there."""
        return _within(self.tracer, self.block, self.state.memory, lambda: self.tracer.base_of(memory))

    def absent_flag(self, other: Side) -> SSAValue:
        """False on the other side of the branch."""
        return _within(
            other.tracer,
            other.block,
            other.state.memory,
            lambda: ssa_of(other.tracer, torch.zeros((), dtype=torch.bool)),
        )

    def zeros(self, like: Any) -> SSAValue:
        """A placeholder of the type of a value."""
        tensor = like.tensor if isinstance(like, Number) else self.tracer.fake_of(like)
        return _within(
            self.tracer,
            self.block,
            self.state.memory,
            lambda: ssa_of(self.tracer, torch.zeros(tensor.shape, dtype=tensor.dtype)),
        )


def branch(
    tracer: Tracer, frames: Sequence[Any], condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]
) -> Any:
    """`then()` where a tensor or number holds, else `otherwise()`; the merged result."""
    scalar = tracer.builder.emit(tensor.ExtractOp(ssa_of(tracer, truth(condition)), [], i1)).results[0]
    found = structures.containers(frames)
    before = State.of(tracer, found)
    sides = [_run(tracer, found, before, each) for each in (then, otherwise)]
    before.restore(tracer)
    merge = _Merge(tracer, sides[0], sides[1], truth(condition).tensor)
    result = merge.value(sides[0].result, sides[1].result, "the result")
    for number, (container, _) in enumerate(before.held):
        merge.contents(container, sides[0].state.held[number][1], sides[1].state.held[number][1])
    written = written_memories(tracer, before.memory, [side.state.memory for side in sides])
    merge.pairs += [(None, sides[0].base(each), sides[1].base(each)) for each in written]
    if merge.pairs:
        end_block(tracer, sides[0].block, [one for _, one, _ in merge.pairs])
        end_block(tracer, sides[1].block, [other for _, _, other in merge.pairs])
        types = [one.type for _, one, _ in merge.pairs]
        regions = [Region([side.block]) for side in sides]
        op = tracer.builder.emit(scf.IfOp(scalar, types, regions[0], regions[1]))
        merge.bind(op.results)
        for memory, value in zip(reversed(written), reversed(op.results), strict=False):
            tracer.rebase(memory, value)
    merge.name_alternatives()
    return result


def truth(value: Any) -> Number:
    """A condition as a bool known at run time."""
    return number_of_tensor(value.tensor if isinstance(value, Number) else value, bool)


def is_dynamic(value: Any) -> bool:
    """True for what only the running program knows."""
    return isinstance(value, Tensor | Number)


class _Merge:
    """Pairs up what two sides of a branch left."""

    def __init__(self, tracer: Tracer, one: Side, other: Side, condition: Tensor) -> None:
        self.tracer = tracer
        self.condition = condition
        self.known = tracer.known_memories()
        """The memories of before."""
        self.alternatives: list[tuple[FakeTensor, list[Alternative]]] = []
        self.one = one
        self.other = other
        self.pairs: list[tuple[FakeTensor | None, SSAValue, SSAValue]] = []
        self.made: dict[tuple[int, int], tuple[Any, Any, Any]] = {}

    def bind(self, results: Sequence[SSAValue]) -> None:
        """Give the merged tensors their values."""
        for (fake, _, _), value in zip(self.pairs, results, strict=True):
            if fake is not None:
                self.tracer.bind(fake, value)

    def name_alternatives(self) -> None:
        """Say which tensors the merged ones may be."""
        for fake, alternatives in self.alternatives:
            self.tracer.choices.add(fake, alternatives)

    def alternatives_of(self, one: Tensor | None, other: Tensor | None) -> list[Alternative]:
        """The tensors of before that a merged one is, depending on the side."""
        found: list[Alternative] = []
        for is_first, given in ((True, one), (False, other)):
            if given is None:
                continue
            fake = self.tracer.fake_of(given)
            if memory_of(fake) in self.known:
                flag = self.condition if is_first else self.opposite()
                found.append(Alternative(flag, fake))
                continue
            side = self.one if is_first else self.other
            for each in self.tracer.choices.of(fake):
                if memory_of(each.target) in self.known and Geometry.of(each.target).shape == Geometry.of(fake).shape:
                    flags = (side.ssa(each.flag), side.absent_flag(self.other if is_first else self.one))
                    flag = self.pair(each.flag, *(flags if is_first else reversed(flags)))
                    found.append(Alternative(flag, each.target))
        return found

    def opposite(self) -> Tensor:
        """Whether the condition fails."""
        if self._opposite is None:
            self._opposite = torch.logical_not(self.condition)
        return self._opposite

    _opposite: Tensor | None = None

    def contents(self, container: Any, one: dict[Any, Any], other: dict[Any, Any]) -> None:
        """Merge what a container holds."""
        if type(container) is list and len(one) != len(other):
            message = f"a list has {len(one)} elements where the condition holds and {len(other)} where it does not"
            structures.refill(container, {0: Clash(f"{message}; make both the same length")})
            return
        merged: dict[Any, Any] = {}
        for key in [*one, *(key for key in other if key not in one)]:
            if key in one and key in other:
                merged[key] = self.value(one[key], other[key], f"'{key}'")
            else:
                merged[key] = Clash(f"'{key}' is set only where the condition {'holds' if key in one else 'fails'}")
        structures.refill(container, merged)

    def value(self, one: Any, other: Any, name: str) -> Any:
        """One value that is the first where the condition holds and the second where not."""
        if one is other:
            return one
        merged = self.made.get((id(one), id(other)))
        if merged is None:
            # Two names of one thing stay so. Both are kept, so that their identities are theirs alone.
            merged = self.made[id(one), id(other)] = (self.merged(one, other, name), one, other)
        return merged[0]

    def merged(self, one: Any, other: Any, name: str) -> Any:
        if isinstance(one, Absent) or isinstance(other, Absent):
            return structures.mapped(
                self.or_nothing(isinstance(one, Absent)), other if isinstance(one, Absent) else one
            )
        if isinstance(one, Outcome) and isinstance(other, Outcome):
            return self.outcome(one, other)
        if isinstance(one, Tensor) and isinstance(other, Tensor):
            return self.tensors(one, other, name)
        if (kind := common_kind(one, other)) is not None:
            return one if is_same(one, other) else self.numbers(one, other, kind)
        if structures.same_shape(one, other):
            parts = zip(structures.children(one) or [], structures.children(other) or [], strict=True)
            return structures.rebuilt(one, [self.value(left, right, name) for (_, left), (_, right) in parts])
        if is_same(one, other):
            return one
        return Clash(
            f"{name} is {describe(one)} where the condition holds and {describe(other)} where it does not; "
            "make both a tensor of the same dtype and shape"
        )

    def outcome(self, one: Outcome, other: Outcome) -> Outcome:
        value = self.value(one.value, other.value, "the returned value")
        for leaf in structures.leaves(value):
            if isinstance(leaf, Clash):
                raise UnsupportedError(leaf.reason)
        broke = self.value(one.broke, other.broke, "")
        return Outcome(broke, self.value(one.returned, other.returned, ""), value)

    def tensors(self, one: Tensor, other: Tensor, name: str) -> Any:
        if one.shape != other.shape or one.dtype != other.dtype:
            return Clash(
                f"{name} is {describe(one)} where the condition holds and {describe(other)} where it does not; "
                "make both of the same dtype and shape"
            )
        merged = self.pair(one, self.one.ssa(one), self.other.ssa(other))
        self.tracer.layouts.add(merged, [self.tracer.fake_of(each) for each in (one, other)])
        self.alternatives.append((merged, self.alternatives_of(one, other)))
        new = [each for each in (one, other) if memory_of(self.tracer.fake_of(each)) not in self.known]
        self.tracer.may_share(merged, new)
        return merged

    def numbers(self, one: Any, other: Any, kind: type) -> Number:
        like = torch.empty((), dtype=DTYPES[kind], device="meta")
        return Number(self.pair(like, self.one.ssa(one), self.other.ssa(other)))

    def or_nothing(self, first: bool) -> Callable[[Any], Any]:
        """Merges a leaf with nothing on the first or second side."""
        side = self.other if first else self.one

        def leaf(value: Any) -> Any:
            if not is_dynamic(value):
                return value
            pair = (self.one.zeros(value), side.ssa(value)) if first else (side.ssa(value), self.other.zeros(value))
            merged = self.pair(value.tensor if isinstance(value, Number) else value, *pair)
            if isinstance(value, Number):
                return Number(merged)
            self.tracer.layouts.add(merged, [self.tracer.fake_of(value)])
            self.alternatives.append((merged, self.alternatives_of(*((None, value) if first else (value, None)))))
            return merged

        return leaf

    def pair(self, like: Tensor, one: SSAValue, other: SSAValue) -> FakeTensor:
        fake = self.tracer.unbound(like)
        self.pairs.append((fake, one, other))
        return fake


def truth_of(value: Any) -> Any:
    """A Python bool, or a dynamic truth as a bool number."""
    return truth(value) if is_dynamic(value) else bool(value)


def describe(value: Any) -> str:
    """A value in an error message."""
    if isinstance(value, Tensor):
        return f"a {str(value.dtype).removeprefix('torch.')} tensor of shape {list(value.shape)}"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Number):
        return f"a number ({value.kind.__name__})"
    return "a function" if callable(value) else f"a {type(value).__name__}"


def _run(tracer: Tracer, found: list[Any], before: State, run: Callable[[], Any]) -> Side:
    before.restore(tracer)
    block = Block()
    here, tracer.builder.block = tracer.builder.block, block
    try:
        result = run()
    finally:
        tracer.builder.block = here
    return Side(tracer, block, State.of(tracer, found), result)


def _within(tracer: Tracer, block: Block, memory: Memory, emit: Callable[[], Any]) -> Any:
    here, present = tracer.builder.block, tracer.memory
    tracer.builder.block, tracer.memory = block, memory
    try:
        return emit()
    finally:
        tracer.builder.block, tracer.memory = here, present


def ssa_of(tracer: Tracer, value: Any) -> SSAValue:
    """The present value of a tensor or number."""
    return tracer.value_of(value if isinstance(value, Tensor) else as_number(value).tensor)


def end_block(tracer: Tracer, block: Block, values: Sequence[SSAValue]) -> None:
    """End a region with the values that it hands on."""
    op = scf.YieldOp(*values)
    op.location = tracer.builder.location
    block.add_op(op)


def written_memories(tracer: Tracer, before: Memory, after: Sequence[Memory]) -> list[int]:
    """Memories of before that were written to since."""
    known = {memory_of(fake) for fake in before.tensors.values()} | tracer.held_memories
    return sorted(
        memory
        for memory in known
        if any(before.versions.get(memory, 0) != each.versions.get(memory, 0) for each in after)
    )


def common_kind(one: Any, other: Any) -> type | None:
    """bool, int or float if both are such numbers (a bool tensor is one to a condition)."""
    kinds: set[Any] = set()
    for value in (one, other):
        if isinstance(value, Number):
            kinds.add(value.kind)
        elif isinstance(value, Tensor) and value.dtype == torch.bool and value.numel() == 1:
            kinds.add(bool)
        else:
            kinds.add(type(value))
    (kind,) = kinds if len(kinds) == 1 else (None,)
    return kind if kind in _NUMBERS else None


def is_same(one: Any, other: Any) -> bool:
    """Equal Python values; NaN is the same as NaN, 0.0 is not -0.0."""
    if one is other:
        return True
    if type(one) is not type(other) or is_dynamic(one):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    parts = structures.children(one)
    if parts is not None:
        return structures.same_shape(one, other) and all(
            is_same(left, right) for (_, left), (_, right) in zip(parts, structures.children(other) or [], strict=True)
        )
    try:
        return bool(one == other)
    except Exception:  # a comparison of the user's own that cannot be made
        return False
