"""From a Python function to a program: its IR, what its results are made of, and what a call of it changes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region

from cuvil.aliasing import Held, Overlap, overlaps
from cuvil.arguments import ArgumentError
from cuvil.errors import UnsupportedError
from cuvil.frontends.export_errors import unlogged
from cuvil.frontends.exported import ImportedModule, Input, Output
from cuvil.frontends.graph_memory import memory_of
from cuvil.frontends.source import structures
from cuvil.frontends.source.calls import Readable
from cuvil.frontends.source.choices import is_same_place
from cuvil.frontends.source.numbers import Number
from cuvil.frontends.source.outside import AttributeAssignedError
from cuvil.frontends.source.reader import Reader
from cuvil.frontends.source.scopes import Guard, Guards
from cuvil.frontends.source.syntax import SourceError, syntax_of
from cuvil.frontends.source.trace import OutsideWrittenError, Tracer
from cuvil.frontends.strided import Geometry
from cuvil.write_back import Computed, Effects, Either, Given, Recipe, Replacement, Source, Update, View

_MOST_READINGS = 40


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a result of the program in what the function gives."""

    index: int


@dataclass(frozen=True, slots=True)
class At:
    """A container that the function was given, by the keys that lead to it from (args, kwargs)."""

    path: tuple[Any, ...]


@dataclass(frozen=True)
class ReadProgram:
    """A function read for one signature."""

    imported: ImportedModule | None
    """None of a function that computes nothing."""
    effects: Effects
    template: Any
    """The result with `Slot`s in the place of tensors and numbers."""
    changed: tuple[tuple[At, Any], ...]
    """Containers that the function changes, and what they hold afterwards."""
    guards: tuple[Guard, ...]
    kept: list[Any]
    """Objects that the code was made for: while it lives, no other has their identity."""
    expected: tuple[Overlap, ...] = ()
    """The overlaps of tensors that the program was read for."""
    state_types: tuple[Any, ...] = ()
    """Of the state, what code is made for."""
    is_placed: bool = False
    """Whether it matters by which keys the caller's containers are reached."""

    def fits(self, tensors: Sequence[Tensor]) -> bool:
        """Whether the program is the one for tensors that lie in memory as these do, and for the state as it is."""
        effects = self.effects
        if effects.state:
            state = [each.read() for each in effects.state]
            if tuple(map(type_of, state)) != self.state_types:
                return False
            tensors = [*tensors, *state]
        return not effects.written or overlaps(tensors, effects.written, self.held) == self.expected

    @cached_property
    def held(self) -> Held:
        """The weights that the code holds."""
        return Held(self.effects.frozen)

    @cached_property
    def is_plain(self) -> bool:
        """Whether a call gives new tensors, and does nothing else."""
        effects = self.effects
        return (
            not (effects.updates or effects.replacements or effects.state or self.changed)
            and all(isinstance(recipe, Computed) for recipe in effects.results)
            and len({recipe.index for recipe in effects.results if isinstance(recipe, Computed)})
            == len(effects.results)
        )


@dataclass
class Attempt:
    """What is known from readings before."""

    state: list[Tensor] = field(default_factory=list[Tensor])
    """Tensors from outside that are given at each call."""
    assigned: list[tuple[Any, str, Tensor]] = field(default_factory=list[tuple[Any, str, Tensor]])
    """Attributes that are replaced, and what they are before."""
    groups: tuple[Overlap, ...] = ()


def read_function(function: FunctionType | Readable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ReadProgram:
    """A function as IR for arguments like these; `args` and `kwargs` leaves that are tensors become its inputs.

    Where the function changes tensors from outside, or tensors that overlap, it is read again with these known.
    Raises `SourceError` at the place in the source that cannot be read.
    """
    known = Attempt()
    tensors = [leaf for leaf in structures.leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    for _ in range(_MOST_READINGS):
        try:
            with unlogged():
                program = _Reading(function, known).run(args, kwargs)
        except OutsideWrittenError as error:
            known.state.append(error.tensor)
            continue
        except AttributeAssignedError as error:
            known.assigned.append((error.holder, error.name, error.tensor))
            if not any(error.tensor is each for each in known.state):
                known.state.append(error.tensor)
            continue
        frozen = dict(program.effects.frozen)
        found = overlaps([*tensors, *known.state], program.effects.written, Held(frozen.items()))
        named = [key for group in found for key, _ in group if isinstance(key, str)]
        if not named and found == program.expected:
            return program
        known.state += [frozen[name] for name in named]
        known.groups = () if named else found
    raise UnsupportedError("what the function changes does not settle; return new values instead")


class _Reading:
    """One reading of a function."""

    def __init__(self, function: FunctionType | Readable, known: Attempt) -> None:
        self.function = function
        self.known = known
        self.tracer, self.guards = Tracer(), Guards()
        self.reader = Reader(self.tracer, self.guards)
        self.kept: list[Any] = []
        self.inputs: list[Input] = []
        self.sources: list[Source] = []
        self.given: list[FakeTensor] = []
        """The tensors of a call, arguments and state."""
        self.values: list[Any] = []
        self.outputs: list[Output] = []
        self.recipes: list[Recipe] = []
        self.shown: list[FakeTensor] = []
        """The tensors that leave the function."""
        self.uses_paths = False
        self._computed: dict[Any, Computed] = {}
        self._slots: dict[int, tuple[Any, Slot]] = {}

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ReadProgram:
        tensors = [leaf for leaf in structures.leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        for leaf in tensors:
            if leaf.device.type != "cpu" or leaf.layout != torch.strided:
                raise ArgumentError(
                    f"an argument is a {leaf.layout} tensor on {leaf.device}, expected a dense one on cpu"
                )
        self.give([*tensors, *self.known.state])
        for tensor, fake in zip(self.known.state, self.given[len(tensors) :], strict=True):
            self.tracer.take(tensor, fake)
        for holder, name, tensor in self.known.assigned:
            self.reader.attributes[id(holder), name] = self.tracer.fake_of(tensor)
        remaining = iter(self.given)
        own_args, own_kwargs = structures.mapped(lambda leaf: self.argument(leaf, remaining), (args, kwargs))
        self.paths = _paths((own_args, own_kwargs))
        before = [(each, path, structures.contents(each)) for each, path in self.paths]
        try:
            with torch.no_grad(), plain_kernels(), self.tracer:
                result = self.reader.call_read(self.function, own_args, own_kwargs)
                return self.program(result, before)
        except (SourceError, OutsideWrittenError, AttributeAssignedError):
            raise
        except UnsupportedError as error:
            syntax = syntax_of(self.function) if isinstance(self.function, FunctionType) else None
            if syntax is None:
                raise
            raise SourceError(error.message, syntax.source.place(syntax.node)) from None

    # -- inputs ------------------------------------------------------------------------------------------------------

    def give(self, tensors: Sequence[Tensor]) -> None:
        """Declare the tensors of a call; those of a group are views of one input."""
        groups = [[key for key, _ in group if isinstance(key, int)] for group in self.known.groups]
        fakes: dict[int, FakeTensor] = {}
        for place, tensor in enumerate(tensors):
            if place in fakes:
                continue
            group = next((group for group in groups if place in group), None)
            name = f"arg{len(self.inputs)}"
            if group is None:
                fakes[place] = self.tracer.argument(tensor, name)
                self.sources.append(Source(place))
            else:
                members = [tensors[each] for each in group]
                views = self.tracer.shared_arguments(members, name)
                fakes.update(zip(group, views, strict=True))
                first = min(int(each.storage_offset()) for each in members)
                base = self.tracer.owner_of(memory_of(views[0]))
                self.sources.append(Source(place, base.numel(), first - int(tensor.storage_offset())))
            declared: Any = self.tracer.entry.args[-1].type
            self.inputs.append(Input(name, declared, tensor.dtype))
        self.given = [fakes[place] for place in range(len(tensors))]

    def argument(self, leaf: Any, remaining: Any) -> Any:
        if isinstance(leaf, Tensor):
            return next(remaining)
        self.kept.append(leaf)
        return self.reader.seen(leaf, "argument")

    # -- results -----------------------------------------------------------------------------------------------------

    def program(self, result: Any, before: list[tuple[Any, At, dict[Any, Any]]]) -> ReadProgram:
        updates: list[Update] = []
        written: set[int] = set()
        for number, source in enumerate(self.sources):
            memory = memory_of(self.given[source.given])
            if self.tracer.memory.versions.get(memory, 0):
                owner = self.tracer.owner_of(memory)
                updates.append(Update(source, self.computed(("input", number), owner).index))
                written |= {place for place, each in enumerate(self.given) if memory_of(each) == memory}
        held = [structures.contents(container) for container, _, _ in before]
        leaves = structures.leaves([result, held, self.reader.attributes])
        self.shown = [self.tracer.fake_of(leaf) for leaf in leaves if isinstance(leaf, Tensor)]
        template = self.templated(result)
        changed = tuple(
            (path, self.contents(structures.contents(container)))
            for container, path, old in before
            if _is_changed(old, structures.contents(container))
        )
        replacements = self.replacements()
        state = tuple(self.reader.outside.state_of(tensor) for tensor in self.known.state)
        effects = Effects(
            tuple(self.sources),
            tuple(updates),
            tuple(replacements),
            tuple(self.recipes),
            state,
            tuple(self.frozen()),
            frozenset(written),
        )
        kept = [*self.kept, *self.guards.kept, *self.known.state]
        guards = tuple(self.guards.found.values())
        types = tuple(type_of(tensor) for tensor in self.known.state)
        is_placed = self.uses_paths or bool(changed)
        return ReadProgram(
            self.imported(), effects, template, changed, guards, kept, self.known.groups, types, is_placed
        )

    def imported(self) -> ImportedModule | None:
        """The function as a module; None if it computes nothing."""
        if not self.values:
            return None
        last = ReturnOp(*self.values)
        last.location = UNKNOWN_LOC
        self.tracer.entry.add_op(last)
        types = ([each.type for each in self.tracer.entry.args], [each.type for each in self.values])
        module = ModuleOp([*self.tracer.globals.values(), FuncOp("main", types, Region([self.tracer.entry]))])
        return ImportedModule(module, self.tracer.parameters, tuple(self.inputs), tuple(self.outputs), None, None)

    def templated(self, value: Any) -> Any:
        """A value with slots for what the program computes, and paths for the caller's containers."""
        for container, path in self.paths:
            if container is value:
                self.uses_paths = True
                return path
        parts = structures.children(value)
        if parts is not None:
            return structures.rebuilt(value, [self.templated(part) for _, part in parts])
        if isinstance(value, Tensor | Number):
            return self.slot(value)
        return value

    def contents(self, held: dict[Any, Any]) -> dict[Any, Any]:
        """What a container holds, as a template."""
        return {key: self.templated(value) for key, value in held.items()}

    def slot(self, value: Tensor | Number) -> Slot:
        """The place of a tensor or number among the program's results."""
        key = id(value)
        if key not in self._slots:
            if isinstance(value, Number):
                made = self.computed(("number", key), value.tensor)
                recipe: Recipe = Computed(made.index, is_number=True)
            else:
                recipe = self.recipe(self.tracer.fake_of(value))
            self.recipes.append(recipe)
            self._slots[key] = (value, Slot(len(self.recipes) - 1))
        return self._slots[key][1]

    def recipe(self, fake: FakeTensor) -> Recipe:
        """How a tensor is made: one that is given, a view of one, one of several, or a new one."""
        for place, each in enumerate(self.given):
            if each is fake:
                return Given(place)
        memory = memory_of(fake)
        for place, each in enumerate(self.given):
            if memory_of(each) == memory:
                return self.view(Given(place), each, fake)
        if memory in self.tracer.outside:
            return self.outer(fake, memory)
        owner = self.tracer.owner_of(memory)
        if not self.is_shared(fake):
            return self.computed(("tensor", id(fake)), fake)
        made: Recipe = self.computed(("memory", memory), owner)
        if owner.stride() != _row_major(owner):
            made = Computed(made.index, tuple(owner.stride()))
        for each in self.tracer.choices.of(fake):
            flag = self.computed(("flag", id(each.flag)), each.flag)
            made = Either(flag.index, self.recipe(each.target), made)
        if is_same_place(fake, owner):
            return made
        if isinstance(made, Either):
            self.check_strides(fake, owner)
        return self.view(made, owner, fake)

    def is_shared(self, fake: FakeTensor) -> bool:
        """Whether the memory of a view is that of something else that the function gives or keeps."""
        memory = memory_of(fake)
        shown = {id(each): each for each in self.shown if memory_of(each) == memory}
        return len(shown) > 1 or bool(self.tracer.choices.of(fake))

    def check_strides(self, view: FakeTensor, owner: FakeTensor) -> None:
        """Refuse a view of what may be one of several tensors, if these lie differently in memory."""
        for each in self.tracer.choices.of(view):
            if each.target.stride() != owner.stride():
                raise UnsupportedError(
                    "the result is a view of what may be one of several tensors with different strides; "
                    "return a clone() of it"
                )
            self.check_strides(each.target, owner)

    def outer(self, fake: FakeTensor, memory: int) -> Recipe:
        """A weight that the function gives: state from now on, for the caller gets the tensor itself."""
        raise OutsideWrittenError(self.tracer.outside[memory])

    def view(self, of: Recipe, base: FakeTensor, fake: FakeTensor) -> Recipe:
        """A view of another recipe's tensor."""
        one, other = Geometry.of(base), Geometry.of(fake)
        if one.dtype != other.dtype:
            raise UnsupportedError("a result shows the memory of another tensor as another dtype; return a clone()")
        self.kept.append(fake)
        return View(of, other.shape, other.strides, other.offset - one.offset, id(fake))

    def computed(self, key: Any, tensor: Tensor) -> Computed:
        """A result of the compiled function, once for each key."""
        if key not in self._computed:
            value: Any = self.tracer.value_of(tensor)
            self._computed[key] = Computed(len(self.values))
            self.values.append(value)
            self.outputs.append(Output(value.type, tensor.dtype))
        return self._computed[key]

    def replacements(self) -> list[Replacement]:
        """Attributes that are other tensors afterwards."""
        found: list[Replacement] = []
        for holder, name, tensor in self.known.assigned:
            place = next(place for place, each in enumerate(self.known.state) if each is tensor)
            new = self.reader.attributes[id(holder), name]
            if not isinstance(new, Tensor):
                raise UnsupportedError(f"attribute '{name}' is no tensor, or another one, depending on the way taken")
            if new is not self.tracer.fake_of(tensor):
                found.append(Replacement(place, self.recipes[self.slot(new).index]))
        return found

    def frozen(self) -> list[tuple[str, Tensor]]:
        """The weights whose values the code holds."""
        return [(f"{number}", tensor) for number, tensor in enumerate(self.tracer.outside.values())]


def _paths(roots: Any) -> list[tuple[Any, At]]:
    """The containers of a call's arguments, and how they are reached."""
    found: dict[int, tuple[Any, At]] = {}

    def walk(value: Any, path: tuple[Any, ...]) -> None:
        parts = structures.children(value)
        if parts is None or id(value) in found:
            return
        if structures.is_container(value) and len(path) > 1:
            found[id(value)] = (value, At(path))
        for key, part in parts:
            walk(part, (*path, key))

    walk(roots, ())
    return list(found.values())


def _is_changed(old: dict[Any, Any], new: dict[Any, Any]) -> bool:
    return old.keys() != new.keys() or any(new[key] is not old[key] for key in new)


def _row_major(tensor: Tensor) -> tuple[int, ...]:
    return tuple(torch.empty(tensor.shape, device="meta").stride())


def type_of(tensor: Tensor) -> Any:
    """What code is made for of a tensor: dtype, shape, strides where they are not the usual ones."""
    if tensor.is_contiguous():
        return tensor.dtype, tensor.shape
    return tensor.dtype, tensor.shape, tensor.stride()


@contextmanager
def plain_kernels() -> Generator[None]:
    """Layers in terms of plain ops: neither the fused kernels of attention layers nor oneDNN's of recurrent ones."""
    switches: Any = getattr(torch, "_C")  # noqa: B009 `torch.backends.mkldnn.flags` sets more than this, and warns
    before = torch.backends.mha.get_fastpath_enabled(), switches._get_mkldnn_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    switches._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before[0])
        switches._set_mkldnn_enabled(before[1])
