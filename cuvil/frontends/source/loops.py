"""Loops on tensor values: `scf.while` with everything that the body changes as its arguments.

The body is read until what it changes is known, and then once more with these as the loop's arguments. The condition is
one of them: it is computed before the loop and at the end of each iteration, so that a break is a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Block, Region, SSAValue

from cuvil.errors import UnsupportedError
from cuvil.frontends.source import structures
from cuvil.frontends.source.choices import Alternative, is_same_place
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

Leaf = tuple[Place, int]
"""Which leaf of the value there."""


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
        self.lies: dict[Leaf, list[Tensor]] = {}
        """Tensors that tell the layouts of carried ones."""
        self.together: list[list[Leaf]] = []
        """Carried tensors that lie in one memory."""

    def run(self) -> Outcome:
        self.discover()
        starts = [ssa_of(self.tracer, self.go), *(ssa_of(self.tracer, leaf) for leaf in self.leaves_before())]
        starts += [self.tracer.base_of(memory) for memory in self.memories]
        starts += [_flag(self.tracer, before, candidate) for _, before, candidate in self.candidates()]
        returned = self.returned_leaves()
        starts += [ssa_of(self.tracer, torch.zeros((), dtype=torch.bool))] if returned is not None else []
        starts += [_zeros(self.tracer, leaf) for leaf in returned or []]
        given_back = self.given_back(returned or [])
        starts += [_flag(self.tracer, None, candidate) for _, candidate in given_back]
        types = [start.type for start in starts]
        before, after = Block(arg_types=types), Block(arg_types=types)
        extract = tensor.ExtractOp(before.args[0], [], i1)
        before.add_ops([extract, scf.ConditionOp(extract.result, *before.args)])
        side = self.body_in(after)
        go, outcome = side.result
        ends = [side.ssa(go), *(side.ssa(leaf) for leaf in self.leaves_of(side.state))]
        ends += [side.base(memory) for memory in self.memories]
        ends += side.within(lambda: self.flags_after(side.state))
        if returned is not None:
            ends += [side.ssa(outcome.returned)]
            ends += self.returned_ends(side, outcome, returned)
            leaves = [leaf for leaf in structures.leaves(outcome.value) if is_dynamic(leaf)]
            ends += side.within(
                lambda: [_flag(self.tracer, leaves[place] if leaves else None, each) for place, each in given_back]
            )
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
        made = [leaf for leaf in structures.leaves(value) if is_dynamic(leaf)]
        for new, leaf in zip(made, returned, strict=True):
            if isinstance(new, Tensor) and isinstance(leaf, Tensor):
                self.tracer.layouts.add(self.tracer.fake_of(new), [self.tracer.fake_of(leaf)])
        self.name_alternatives([(made[place], each) for place, each in given_back], values)
        return Outcome(returned=flag, value=value)

    # -- discovery ---------------------------------------------------------------------------------------------------

    def discover(self) -> None:
        """Read the body until everything that it changes is carried."""
        for _ in range(_ROUNDS):
            side = self.body_in(None)
            self.outcome = side.result[1]
            self.note_together(side.state)
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
            grown |= self.note_layouts((place, number), leaf)
            for each in self.may_be(leaf):
                if memory_of(each) in known and not any(is_same_place(each, other) for other in found):
                    found.append(each)
                    grown = True
        return grown

    def note_layouts(self, leaf: Leaf, value: Any) -> bool:
        """Note how a carried tensor lies in memory after the body; True if that is new."""
        if not isinstance(value, Tensor):
            return False
        found = self.lies.setdefault(leaf, [])
        known = {each.stride() for each in found}
        fake = self.tracer.fake_of(value)
        found += [each for each in (fake, *self.tracer.layouts.of(fake)) if each.stride() not in known]
        return len({each.stride() for each in found}) > len(known)

    def may_be(self, value: Any) -> list[FakeTensor]:
        """A tensor, and those that it may be."""
        if not isinstance(value, Tensor):
            return []
        fake = self.tracer.fake_of(value)
        return [fake, *(each for one in self.tracer.choices.of(fake) for each in self.may_be(one.target))]

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
            scratch_flags = Block(arg_types=[TensorType(i1, [])] * len(self.candidates()))
            self.assign([*scratch.args, *scratch_memories.args, *scratch_flags.args])
        here, tracer.builder.block = tracer.builder.block, block
        try:
            result = self.body()
        finally:
            tracer.builder.block = here
        return Side(tracer, block, State.of(tracer, self.found), result)

    def assign(self, values: list[SSAValue]) -> list[SSAValue]:
        """Bind the carried places and memories to values; those left over."""
        remaining = iter(values)
        carried: dict[Leaf, Any] = {}
        for number, key in self.places:
            container, old = self.before.held[number]
            held = structures.contents(container)
            made = structures.mapped(
                lambda leaf: self.like(leaf, next(remaining)) if _is_carried(leaf) else leaf, old[key]
            )
            held[key] = made
            carried.update({((number, key), leaf): now for leaf, now in enumerate(structures.leaves(made))})
            for leaf, before in enumerate(structures.leaves(old[key])):
                if isinstance(before, Tensor):
                    place = ((number, key), leaf)
                    known = [self.tracer.fake_of(before), *self.lies.get(place, [])]
                    self.tracer.layouts.add(carried[place], known)
            structures.refill(container, held)
        for memory in self.memories:
            self.tracer.rebase(memory, next(remaining))
        self.name_alternatives([(carried[leaf], each) for leaf, _, each in self.candidates()], remaining)
        for group in self.together:
            tensors = [carried[leaf] for leaf in group if isinstance(carried.get(leaf), Tensor)]
            for each in tensors:
                self.tracer.may_share(each, [other for other in tensors if other is not each])
        return list(remaining)

    # -- tensors that are others -------------------------------------------------------------------------------------

    def candidates(self) -> list[tuple[Leaf, Tensor, FakeTensor]]:
        """Tensors of before that carried ones may be, where that can be seen: the leaf, what it is before, which."""
        found: list[tuple[Leaf, Tensor, FakeTensor]] = []
        for number, key in self.places:
            for leaf, before in enumerate(structures.leaves(self.before.held[number][1][key])):
                if not isinstance(before, Tensor):
                    continue
                several: list[FakeTensor] = []
                for each in (before, *self.becomes.get(((number, key), leaf), [])):
                    fake = self.tracer.fake_of(each)
                    fits = fake.shape == before.shape and fake.dtype == before.dtype
                    if fits and self.is_seen(fake) and not any(is_same_place(fake, other) for other in several):
                        several.append(fake)
                found += [(((number, key), leaf), before, each) for each in several]
        return found

    def is_seen(self, tensor: FakeTensor) -> bool:
        """Whether a tensor of before is seen otherwise than by one variable."""
        memory = memory_of(tensor)
        if memory in self.tracer.given or self.tracer.choices.of(tensor):
            return True
        leaves = (leaf for _, held in self.before.held for value in held.values() for leaf in structures.leaves(value))
        return sum(isinstance(leaf, Tensor) and memory_of(self.tracer.fake_of(leaf)) == memory for leaf in leaves) > 1

    def flags_after(self, after: State) -> list[SSAValue]:
        """Which candidates the carried tensors are at the end of the body."""
        flags: list[SSAValue] = []
        for ((number, key), leaf), _, candidate in self.candidates():
            now = structures.leaves(after.held[number][1].get(key))[leaf]
            flags.append(_flag(self.tracer, now, candidate))
        return flags

    def note_together(self, after: State) -> None:
        """Note the carried tensors that lie in one memory, made by the body."""
        found: dict[int, list[Leaf]] = {}
        for number, key in self.places:
            for leaf, value in enumerate(structures.leaves(after.held[number][1].get(key))):
                if isinstance(value, Tensor):
                    found.setdefault(memory_of(self.tracer.fake_of(value)), []).append(((number, key), leaf))
        self.together = [leaves for leaves in found.values() if len(leaves) > 1]

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

    def given_back(self, returned: list[Any]) -> list[tuple[int, FakeTensor]]:
        """The tensors of before that what is returned may be: which leaf, and which tensor."""
        found: list[tuple[int, FakeTensor]] = []
        for place, leaf in enumerate(returned):
            for each in self.may_be(leaf):
                known = memory_of(each) in self.tracer.given or any(
                    memory_of(each) == memory_of(other) for other in self.before.memory.tensors.values()
                )
                if known and each.shape == leaf.shape and each.dtype == leaf.dtype:
                    found.append((place, each))
        return found

    def name_alternatives(self, named: list[tuple[Any, FakeTensor]], flags: Iterator[SSAValue]) -> None:
        """Say which tensors others may be, by flags in order."""
        alternatives: dict[int, tuple[Any, list[Alternative]]] = {}
        for given, candidate in named:
            flag = self.tracer.fresh(torch.empty((), dtype=torch.bool, device="meta"), next(flags))
            alternatives.setdefault(id(given), (given, []))[1].append(Alternative(flag, candidate))
        for given, found in alternatives.values():
            self.tracer.choices.add(given, found)

    def returned_ends(self, side: Side, outcome: Outcome, returned: list[Any]) -> list[SSAValue]:
        if outcome.value is ABSENT:
            return [side.zeros(leaf) for leaf in returned]
        return [side.ssa(leaf) for leaf in structures.leaves(outcome.value) if is_dynamic(leaf)]


def _flag(tracer: Tracer, tensor: Any, candidate: Tensor) -> SSAValue:
    """Whether a tensor is another one."""
    flag = tracer.choices.flag_of(tracer.fake_of(tensor), candidate) if isinstance(tensor, Tensor) else False
    return tracer.value_of(torch.full((), flag, dtype=torch.bool) if isinstance(flag, bool) else flag)


def _zeros(tracer: Tracer, like: Any) -> SSAValue:
    tensor = like.tensor if isinstance(like, Number) else like
    return tracer.value_of(torch.zeros(tensor.shape, dtype=tensor.dtype))


def _is_carried(leaf: Any) -> bool:
    return is_dynamic(leaf) or type(leaf) in _NUMBERS
