"""Compiled models that change tensors of the caller's, or give views of them: see `cuvil.write_back`.

Code is made for one layout of the tensors that are given. A call with other strides, or with tensors that overlap one
that changes, has code made for it: the model is traced again on tensors that lie in memory as those of the call do.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from cuvil.aliasing import Held, Layout, Overlap, apart, layout_of, on_one_storage, overlaps
from cuvil.arguments import ArgumentError, Arguments
from cuvil.compiled_module import CompiledModule, Runner
from cuvil.foreign_tensors import ForeignError, check_apart, put_back
from cuvil.frontends.dynamic_export import Probe, check_probes
from cuvil.frontends.exported import ImportedModule, trace_model
from cuvil.write_back import Computed, Constant, Effects, Source, State, inputs_of, write_back

Specialize = Callable[[Any, Mapping[str, Any], bool], "tuple[ImportedModule, Runner]"]
"""Compiles the model for (args, kwargs); the flag says whether what these share is to be kept."""


@dataclass
class Program:
    """The code for one layout."""

    effects: Effects
    run: Runner
    expected: tuple[Overlap, ...] = ()
    """The overlaps that the code was made for."""
    held: Held = field(default_factory=Held)
    variants: dict[tuple[Overlap, ...], Program] = field(default_factory=dict[Any, Any])
    """The code for tensors that overlap in other ways."""

    @staticmethod
    def of(effects: Effects, run: Runner, tensors: Sequence[Tensor]) -> Program:
        """The code made for these tensors, arguments and state."""
        held = Held((name, tensor) for name, tensor in effects.frozen)
        return Program(effects, run, overlaps(tensors, effects.written, held), held)

    def call(self, given: Sequence[Tensor]) -> list[Any]:
        """Run the code on what a call gives."""
        return write_back(self.effects, given, self.run(inputs_of(self.effects, given)))

    def with_state(self, arguments: Sequence[Tensor]) -> list[Tensor]:
        """What is given: arguments, and the state as it is now. Raises `ArgumentError` if that is of another type."""
        given = list(arguments)
        for state in self.effects.state:
            given.append(state.read())
        return given


class MutatingModule(CompiledModule):
    """A compiled model with effects: call it as the model was called; it changes what the model would change."""

    def __init__(self, compiled: CompiledModule, imported: ImportedModule, specialize: Specialize) -> None:
        self.__dict__.update(compiled.__dict__)
        assert imported.effects is not None
        leaves = replace(imported, inputs=imported.arguments)
        self._whole = Arguments(leaves)
        self._flat = Arguments(replace(leaves, input_tree=None))
        self._tree = imported.input_tree
        self._results = imported.output_tree
        self._is_single = imported.output_tree.is_leaf()
        self._specialize = specialize
        self._lock = threading.RLock()
        self._programs: dict[Layout, Program] = {}
        self._first: Program | None = None
        self._effects = imported.effects
        self._state_types = [_type_of(state.read()) for state in imported.effects.state]

    @property
    def state(self) -> tuple[State, ...]:
        """The tensors of the model that calls change, or give."""
        return self._effects.state

    def start(self, arguments: Sequence[Tensor]) -> None:
        """Take the code that there is as the one for arguments like these."""
        standing = [apart(tensor) for tensor in arguments]
        given = [*standing, *(state.read() for state in self._effects.state)]
        self._first = self._programs[layout_of(given)] = Program.of(self._effects, self._run, given)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = args if self._whole.is_flat and not kwargs else self._whole.leaves(args, kwargs)
        arrays: list[tuple[Any, Tensor]] = []
        tensors = [leaf if isinstance(leaf, Tensor) else _on_array(leaf, arrays) for leaf in leaves]
        self._flat.tensors(tensors, {})
        arguments = [tensor for tensor in tensors if isinstance(tensor, Tensor)]
        program, given = self._program(tensors, arguments)
        try:
            if program.effects.written:
                check_apart(arrays)
            results = program.call(given)
            for array, tensor in arrays:
                put_back(array, tensor)
        except ForeignError as error:
            raise ArgumentError(f"one of {', '.join(self._whole.names)} is {error}, and the model changes it") from None
        return results[0] if self._is_single else pytree.tree_unflatten(results, self._results)

    def _program(self, leaves: Sequence[Any], arguments: Sequence[Tensor]) -> tuple[Program, list[Tensor]]:
        """The code for a call, and what it is given."""
        first = self._first
        assert first is not None
        given = first.with_state(arguments)
        self._check_state(given[len(arguments) :])
        layout = layout_of(given)
        program = self._programs.get(layout)
        if program is None:
            program = self._compiled(layout, leaves, arguments)
        if program is not first:
            given = program.with_state(arguments)
        if program.effects.written:
            found = overlaps(given, program.effects.written, program.held)
            if found != program.expected:
                given = [*on_one_storage(arguments, found, self._whole.names), *given[len(arguments) :]]
                program = self._variant(program, found, leaves, given[: len(arguments)])
                given = program.with_state(given[: len(arguments)])
        return program, given

    def _compiled(self, layout: Layout, leaves: Sequence[Any], arguments: Sequence[Tensor]) -> Program:
        with self._lock:
            if layout not in self._programs:
                standing = [apart(tensor) for tensor in arguments]
                self._programs[layout] = self._made(leaves, standing, is_aliasing=False)
            return self._programs[layout]

    def _variant(
        self, program: Program, found: tuple[Overlap, ...], leaves: Sequence[Any], arguments: Sequence[Tensor]
    ) -> Program:
        with self._lock:
            if found not in program.variants:
                program.variants[found] = self._made(leaves, arguments, is_aliasing=True)
            return program.variants[found]

    def _made(self, leaves: Sequence[Any], arguments: Sequence[Tensor], is_aliasing: bool) -> Program:
        remaining = iter(arguments)
        filled = [next(remaining) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        args, kwargs = pytree.tree_unflatten(filled, self._tree)
        imported, run = self._specialize(args, kwargs, is_aliasing)
        effects = imported.effects or _plain_effects(imported)
        given = [*arguments, *(state.read() for state in effects.state)]
        return Program.of(effects, run, given)

    def _check_state(self, tensors: Sequence[Tensor]) -> None:
        for state, tensor, expected in zip(self._effects.state, tensors, self._state_types, strict=True):
            if _type_of(tensor) != expected:
                dtype, shape = expected
                raise ArgumentError(
                    f"'{state.name}' of the model is {tensor.dtype} {list(tensor.shape)} now, "
                    f"compiled for {dtype} {list(shape)}; compile the model again"
                )


def mutating_module(
    model: torch.nn.Module,
    imported: ImportedModule,
    compiled: CompiledModule,
    example: tuple[Sequence[Any], Mapping[str, Any] | None],
    lower: Callable[[ImportedModule], CompiledModule],
) -> MutatingModule:
    """A model that was compiled for an example, and is compiled again by `lower` for calls with other layouts."""

    def specialize(args: Any, kwargs: Mapping[str, Any], is_aliasing: bool) -> tuple[ImportedModule, Runner]:
        other = trace_model(model, args, kwargs, is_aliasing=is_aliasing, is_called=True)
        return other, lower(other).run_tensors

    return _started(MutatingModule(compiled, imported, specialize), example)


def open_mutating_module(
    model: torch.nn.Module,
    imported: ImportedModule,
    compiled: CompiledModule,
    example: tuple[Sequence[Any], Mapping[str, Any] | None],
    probes: Sequence[Probe],
) -> MutatingModule:
    """A model with open dims, for arguments that lie in memory as the example's do; checked on `probes`."""

    def specialize(args: Any, kwargs: Mapping[str, Any], is_aliasing: bool) -> tuple[ImportedModule, Runner]:
        how = "share memory that the model changes" if is_aliasing else "have other strides than the example's"
        raise ArgumentError(f"arguments {how}, and the model is compiled with dynamic_shapes; pass copies")

    made = _started(MutatingModule(compiled, imported, specialize), example)
    twin = copy.deepcopy(model)
    kept = [(state, tensor, tensor.clone()) for state in made.state for tensor in (state.read(),)]
    check_probes(lambda *args, **kwargs: twin(*copy.deepcopy(args), **copy.deepcopy(kwargs)), made, probes)
    for state, tensor, value in kept:
        with torch.no_grad():
            tensor.copy_(value)
        if state.read() is not tensor:
            state.write(tensor)
    return made


def _started(made: MutatingModule, example: tuple[Sequence[Any], Mapping[str, Any] | None]) -> MutatingModule:
    args = (example[0],) if isinstance(example[0], Tensor) else tuple(example[0])
    made.start([leaf for leaf in pytree.tree_leaves((args, dict(example[1] or {}))) if isinstance(leaf, Tensor)])
    return made


def _plain_effects(imported: ImportedModule) -> Effects:
    """The effects of a program that computes its results and nothing else."""
    numbers = iter(range(len(imported.outputs)))
    results = [
        Constant(output.constant) if output.type is None else Computed(next(numbers), is_number=output.is_number)
        for output in imported.outputs
    ]
    count = sum(given.type is not None for given in imported.inputs)
    return Effects(tuple(map(Source, range(count))), results=tuple(results))


def _type_of(tensor: Tensor) -> tuple[torch.dtype, torch.Size]:
    return tensor.dtype, tensor.shape


def _on_array(leaf: Any, arrays: list[tuple[Any, Tensor]]) -> Any:
    """An array as a tensor on its memory, where torch can have it; other leaves as they are."""
    if not isinstance(leaf, np.ndarray) or isinstance(leaf, np.ma.MaskedArray):
        return leaf
    native = leaf.dtype.newbyteorder("=")
    plain: Any = leaf
    has_strides_of_torch = all(stride >= 0 and stride % leaf.itemsize == 0 for stride in leaf.strides)
    if leaf.dtype != native or not leaf.flags.writeable or not has_strides_of_torch:
        plain = np.array(leaf, native, order="C")
    try:
        tensor = _on_root(plain) if plain is leaf else torch.as_tensor(plain, device="cpu")
    except TypeError:
        return leaf  # refused in words with the other arguments
    arrays.append((leaf, tensor))
    return tensor


def _on_root(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor on an array's memory, all of which is its storage: so arrays that overlap are views of one."""
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    behind = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    fits = root.dtype == array.dtype and root.flags.c_contiguous and root.flags.writeable
    if (
        root is array
        or not fits
        or not array.size
        or any(stride % array.itemsize for stride in (*array.strides, behind))
    ):
        return torch.as_tensor(array, device="cpu")
    strides = [stride // array.itemsize for stride in array.strides]
    return torch.as_tensor(root, device="cpu").as_strided(array.shape, strides, behind // array.itemsize)


__all__ = ["MutatingModule", "Program"]
