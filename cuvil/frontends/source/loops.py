"""Loops on tensor values: `scf.while` with everything that the body changes as its arguments.

The body is read until what it changes is known, and then once more with these as the loop's arguments. The condition is
one of them: it is computed before the loop and at the end of each iteration, so that a break is a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Region, SSAValue

from cuvil.errors import UnsupportedError
from cuvil.frontends.source import structures
from cuvil.frontends.source.control import (
    ABSENT,
    Clash,
    Outcome,
    Side,
    State,
    common_kind,
    describe,
    end_block,
    is_dynamic,
    is_same,
    ssa_of,
    truth,
    written_memories,
)
from cuvil.frontends.source.numbers import DTYPES, Number, as_number
from cuvil.frontends.source.trace import Tracer, memory_of

_ROUNDS = 8
_NUMBERS = (bool, int, float)


def loop(tracer: Tracer, frames: Sequence[Any], go: Any, body: Callable[[], tuple[Any, Outcome]]) -> Outcome:
    """Run `body` while `go` holds; it gives whether to go on, and how it ended. A mixed outcome says who returned."""
    return _Loop(tracer, structures.containers(frames), go, body).run()


Place = tuple[int, Any]
"""Which container, and the key in it."""


class _Loop:
    def __init__(self, tracer: Tracer, found: list[Any], go: Any, body: Callable[[], tuple[Any, Outcome]]) -> None:
        self.tracer = tracer
        self.found = found
        self.go = truth(go) if is_dynamic(go) else as_number(bool(go))
        self.body = body
        self.before = State.of(tracer, found)
        self.places: list[Place] = []
        self.memories: list[int] = []
        self.outcome = Outcome()
        self.becomes: dict[tuple[Place, int], list[Tensor]] = {}
        """The tensors that the leaves of a place are found to become."""

    def run(self) -> Outcome:
        self.discover()
        starts = [ssa_of(self.tracer, self.go), *(ssa_of(self.tracer, leaf) for leaf in self.leaves_before())]
        starts += [self.tracer.base_of(memory) for memory in self.memories]
        returned = self.returned_leaves()
        starts += [ssa_of(self.tracer, torch.zeros((), dtype=torch.bool))] if returned is not None else []
        starts += [_zeros(self.tracer, leaf) for leaf in returned or []]
        types = [start.type for start in starts]
        before, after = Block(arg_types=types), Block(arg_types=types)
        extract = tensor.ExtractOp(before.args[0], [], i1)
        before.add_ops([extract, scf.ConditionOp(extract.result, *before.args)])
        side = self.body_in(after)
        go, outcome = side.result
        ends = [side.ssa(go), *(side.ssa(leaf) for leaf in self.leaves_of(side.state))]
        ends += [side.base(memory) for memory in self.memories]
        if returned is not None:
            ends += [side.ssa(outcome.returned)]
            ends += self.returned_ends(side, outcome, returned)
        for end, start in zip(ends, starts, strict=True):
            if end.type != start.type:
                raise UnsupportedError(f"a value of the loop starts as {start.type} and becomes {end.type}")
        end_block(self.tracer, after, ends)
        op = self.tracer.builder.emit(scf.WhileOp(starts, types, Region([before]), Region([after])))
        self.before.restore(self.tracer)
        rest = self.assign(list(op.results[1:]))
        self.forget(side.state)
        if returned is None:
            return Outcome()
        values = iter(rest[1:])
        flag = Number(self.tracer.fresh(torch.empty((), dtype=torch.bool, device="meta"), rest[0]))
        value = structures.mapped(
            lambda leaf: self.like(leaf, next(values)) if is_dynamic(leaf) else leaf, self.outcome.value
        )
        return Outcome(returned=flag, value=value)

    # -- discovery ---------------------------------------------------------------------------------------------------

    def discover(self) -> None:
        """Read the body until everything that it changes is carried."""
        for _ in range(_ROUNDS):
            side = self.body_in(None)
            self.outcome = side.result[1]
            self.before.restore(self.tracer)
            if not self.extend(side.state):
                return
        raise UnsupportedError("the values that this loop changes do not settle; simplify its body")

    def extend(self, after: State) -> bool:
        """Carry what else the body changed; True if there was any."""
        grown = False
        for number, key in self.places:
            grown |= self.note((number, key), after.held[number][1].get(key))
        for number, ((container, old), (_, new)) in enumerate(zip(self.before.held, after.held, strict=True)):
            if type(container) is list and len(old) != len(new):
                raise UnsupportedError(
                    "a list grows in a loop whose length depends on tensor values; write into a tensor made before it"
                )
            for key, value in old.items():
                place = (number, key)
                if key not in new or new[key] is value or isinstance(value, Clash) or place in self.places:
                    continue
                if not is_dynamic(value) and is_same(value, new[key]):
                    continue
                self.check(f"'{key}'", value, new[key])
                self.places.append(place)
                self.note(place, new[key])
                grown = True
        for memory in written_memories(self.tracer, self.before.memory, [after.memory]):
            if memory not in self.memories:
                self.memories.append(memory)
                grown = True
        return grown

    def note(self, place: Place, value: Any) -> bool:
        """Note which tensors of before the loop a carried place becomes; True if there are new ones."""
        known = {memory_of(each) for each in self.before.memory.tensors.values()}
        grown = False
        for number, leaf in enumerate(structures.leaves(value)):
            found = self.becomes.setdefault((place, number), [])
            if isinstance(leaf, Tensor) and memory_of(leaf) in known and all(leaf is not each for each in found):
                found.append(leaf)
                grown = True
        return grown

    def check(self, name: str, old: Any, new: Any) -> None:
        """Refuse a change that a loop cannot carry."""
        if structures.same_shape(old, new):
            for (_, one), (_, other) in zip(
                structures.children(old) or [], structures.children(new) or [], strict=True
            ):
                self.check(name, one, other)
            return
        if isinstance(old, Tensor) and isinstance(new, Tensor):
            fits = old.shape == new.shape and old.dtype == new.dtype
        else:
            fits = common_kind(old, new) is not None or (not is_dynamic(old) and is_same(old, new))
        if not fits:
            raise UnsupportedError(
                f"{name} starts as {describe(old)} and becomes {describe(new)} in a loop whose length depends on "
                "tensor values; give it one dtype and shape from the start"
            )

    # -- the body ----------------------------------------------------------------------------------------------------

    def body_in(self, block: Block | None) -> Side:
        """Run the body from the carried state: in the loop's own block, or in one to be thrown away."""
        tracer = self.tracer
        self.before.restore(tracer)
        own = block is not None
        block = block if block is not None else Block()
        if own:
            self.assign(list(block.args[1:]))
        else:
            scratch = Block(arg_types=[ssa_of(tracer, leaf).type for leaf in self.leaves_before()])
            scratch_memories = Block(arg_types=[tracer.base_of(memory).type for memory in self.memories])
            self.assign([*scratch.args, *scratch_memories.args])
        here, tracer.builder.block = tracer.builder.block, block
        try:
            result = self.body()
        finally:
            tracer.builder.block = here
        return Side(tracer, block, State.of(tracer, self.found), result)

    def assign(self, values: list[SSAValue]) -> list[SSAValue]:
        """Bind the carried places and memories to values; those left over."""
        remaining = iter(values)
        for number, key in self.places:
            container, old = self.before.held[number]
            held = structures.contents(container)
            made = structures.mapped(
                lambda leaf: self.like(leaf, next(remaining)) if _is_carried(leaf) else leaf, old[key]
            )
            held[key] = made
            for place, (before, now) in enumerate(
                zip(structures.leaves(old[key]), structures.leaves(made), strict=True)
            ):
                if isinstance(before, Tensor):
                    self.tracer.may_share(now, [before, *self.becomes.get(((number, key), place), [])])
            structures.refill(container, held)
        for memory in self.memories:
            self.tracer.rebase(memory, next(remaining))
        return list(remaining)

    def like(self, leaf: Any, value: SSAValue) -> Any:
        """A tensor or number as this one is, with a value."""
        if isinstance(leaf, Tensor):
            return self.tracer.fresh(leaf, value)
        kind = leaf.kind if isinstance(leaf, Number) else type(leaf)
        return Number(self.tracer.fresh(torch.empty((), dtype=DTYPES[kind], device="meta"), value))

    def leaves_before(self) -> list[Any]:
        return self.leaves_of(self.before)

    def leaves_of(self, state: State) -> list[Any]:
        """The carried leaves in a state."""
        found: list[Any] = []
        for number, key in self.places:
            template = structures.leaves(self.before.held[number][1][key])
            values = structures.leaves(state.held[number][1].get(key))
            if len(template) != len(values):
                raise UnsupportedError(f"'{key}' changes its structure in a loop whose length depends on tensor values")
            for old, new in zip(template, values, strict=True):
                if _is_carried(old):
                    self.check(f"'{key}'", old, new)
                    found.append(new)
        return found

    def forget(self, after: State) -> None:
        """Variables that only the body sets have no value after it."""
        for (container, old), (_, new) in zip(self.before.held, after.held, strict=True):
            if type(container) is dict:
                for key in new.keys() - old.keys():
                    container[key] = Clash(f"'{key}' is set only inside a loop that may not run; set it before")

    # -- returns inside ----------------------------------------------------------------------------------------------

    def returned_leaves(self) -> list[Any] | None:
        """The dynamic leaves of what the body returns; None if it never does."""
        if self.outcome.returned is False:
            return None
        return [leaf for leaf in structures.leaves(self.outcome.value) if is_dynamic(leaf)]

    def returned_ends(self, side: Side, outcome: Outcome, returned: list[Any]) -> list[SSAValue]:
        if outcome.value is ABSENT:
            return [side.zeros(leaf) for leaf in returned]
        return [side.ssa(leaf) for leaf in structures.leaves(outcome.value) if is_dynamic(leaf)]


def _zeros(tracer: Tracer, like: Any) -> SSAValue:
    tensor = like.tensor if isinstance(like, Number) else like
    return tracer.value_of(torch.zeros(tensor.shape, dtype=tensor.dtype))


def _is_carried(leaf: Any) -> bool:
    return is_dynamic(leaf) or type(leaf) in _NUMBERS
