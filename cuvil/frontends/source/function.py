"""`@cuvil.compile` on Python functions: one piece of native code for each signature, made at the first call with it.

A signature is the dtypes and shapes of tensors and the values of everything else. What the function read outside of its
arguments (globals, closure variables, attributes) is guarded: code is used while those values are what they were.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch
from torch import Tensor

from cuvil.arguments import ArgumentError
from cuvil.compiled_module import CompiledModule
from cuvil.errors import UnsupportedError, UserError
from cuvil.foreign_tensors import ForeignError, check_apart, is_foreign, put_back, tensor_of
from cuvil.frontends.exported import ImportedModule
from cuvil.frontends.source import structures
from cuvil.frontends.source.calls import UserRaise
from cuvil.frontends.source.control import describe
from cuvil.frontends.source.reading import At, ReadProgram, Slot, read_function
from cuvil.frontends.source.syntax import syntax_of
from cuvil.write_back import Computed, contiguous, inputs_of, write_back

if TYPE_CHECKING:
    from cuvil.frontends.dynamo import GraphsExplanation


@dataclass
class Specialization:
    """The code of one signature."""

    signature: str
    reason: str
    program: ReadProgram
    compiled: CompiledModule | None
    seconds: float
    run: Run

    def holds(self, tensors: Sequence[Tensor]) -> bool:
        """Whether all that the code was made for is as it was: what is outside, how tensors lie in memory."""
        program = self.program
        for guard in program.guards:
            if not guard.holds():
                return False
        return program.is_plain or program.fits(tensors)


@dataclass(frozen=True)
class Explanation:
    """What was compiled for a function, and why."""

    name: str
    specializations: tuple[Specialization, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: compiled {len(self.specializations)} time(s)"]
        for number, each in enumerate(self.specializations, 1):
            lines.append(f"  {number}. {each.signature}: {each.reason} ({each.seconds * 1e3:.0f} ms)")
            lines += [
                f"     while {guard.name} is {_shown(guard.value)}" for guard in each.program.guards if guard.is_plain
            ]
        return "\n".join(lines)


class CompiledFunction:
    """A Python function that runs as native code; call it as the function is called. Several threads may."""

    specializations: list[Specialization]
    """What was compiled so far, oldest first."""

    def __init__(self, function: FunctionType, lower: Callable[[ImportedModule], CompiledModule]) -> None:
        if syntax_of(function) is None and not hasattr(function, "read"):
            raise UnsupportedError(f"the source of '{function.__qualname__}' cannot be had; put it in a file")
        functools.update_wrapper(self, function)
        self.function = function
        self.specializations = []
        self._lower = lower
        self._signature = inspect.signature(function)
        self._known: dict[Any, list[Specialization]] = {}
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors: list[Tensor] = []
        try:
            key = (_key_of(args, tensors), _key_of(kwargs, tensors)) if kwargs else _key_of(args, tensors)
        except _ForeignArgument:
            return self._on_arrays(args, kwargs)
        for each in self._known.get(key, ()):
            if each.holds(tensors):
                return each.run(tensors, args, kwargs)
        return self._specialized(key, args, kwargs, tensors).run(tensors, args, kwargs)

    def specialize(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compile for arguments like these ahead of the first call."""
        args, kwargs = _as_tensors((args, kwargs), [])
        tensors: list[Tensor] = []
        key = (_key_of(args, tensors), _key_of(kwargs, tensors)) if kwargs else _key_of(args, tensors)
        self._specialized(key, args, kwargs, tensors)

    def _on_arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with arrays of other libraries. They, and the containers that they are in, change as tensors would."""
        arrays: list[tuple[np.ndarray[Any, Any], Tensor]] = []
        like_args, like_kwargs = _as_tensors((args, kwargs), arrays)
        tensors: list[Tensor] = []
        key = _key_of(like_args, tensors)
        key = (key, _key_of(like_kwargs, tensors)) if kwargs else key
        fitting = (each for each in self._known.get(key, ()) if each.holds(tensors))
        found = next(fitting, None) or self._specialized(key, like_args, like_kwargs, tensors)
        try:
            if found.program.effects.updates:
                check_apart(arrays)
            result = found.run(tensors, args, kwargs)
            for array, tensor in arrays:
                put_back(array, tensor)
        except ForeignError as error:
            raise ArgumentError(f"an argument is {error}, and the function changes it") from None
        return result

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def _specialized(
        self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: Sequence[Tensor]
    ) -> Specialization:
        with self._lock:
            for each in self._known.get(key, ()):
                if each.holds(tensors):
                    return each
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ArgumentError(f"{self.function.__name__}: {error}") from None
            bound.apply_defaults()
            whole = _canonical(bound, args, kwargs)
            for each in self._known.get(whole, ()):
                if each.holds(tensors) and not each.program.is_placed:
                    self._known.setdefault(key, []).append(each)
                    return each
            made = self._compiled(bound, args, kwargs)
            self.specializations.append(made)
            for each in {key} if made.program.is_placed else {key, whole} - {None}:
                self._known.setdefault(each, []).append(made)
            return made

    def _compiled(self, bound: inspect.BoundArguments, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialization:
        started = time.perf_counter()
        signature = _described(bound.arguments)
        try:
            program = read_function(self.function, args, kwargs)
        except UserRaise as error:
            raise error.raised from None
        compiled = None if program.imported is None else self._lower(program.imported)
        tensors: list[Tensor] = []
        _key_of((args, kwargs), tensors)
        # Strides are part of the key, so that what holds for these holds for each call.
        is_plain = all(tensor.is_contiguous() and not tensor.is_neg() for tensor in tensors)
        run = _runner(program, compiled, is_plain)
        seconds = time.perf_counter() - started
        return Specialization(signature, self._reason(signature), program, compiled, seconds, run)

    def _reason(self, signature: str) -> str:
        """Why what there is does not do."""
        if not self.specializations:
            return "first call"
        for each in reversed(self.specializations):
            if each.signature == signature:
                changed = [guard for guard in each.program.guards if not guard.holds()]
                if changed:
                    was = _shown(changed[0].value) if changed[0].is_plain else "the object that it was"
                    return f"{changed[0].name} is no longer {was}"
                return "the arguments are given in another way, or another object of the same type"
        old, new = _parts(self.specializations[-1].signature), _parts(signature)
        return ", ".join(f"'{name}' is {new[name]}, was {old[name]}" for name in new if old.get(name) != new[name])


@overload
def explain(function: CompiledFunction | MethodType) -> Explanation: ...


@overload
def explain(function: Any) -> Explanation | GraphsExplanation: ...


def explain(function: Any) -> Explanation | GraphsExplanation:
    """What was compiled for a function so far, and why each time: print it.

    Takes what `cuvil.compile` made of a function (or method), or `torch.compile(..., backend="cuvil")` of a model or
    function. Raises `UserError` for anything else.
    """
    function = getattr(function, "__func__", function)
    if hasattr(function, "_torchdynamo_orig_callable") or hasattr(function, "_orig_mod"):
        from cuvil.frontends.dynamo import explain_graphs

        return explain_graphs(function)
    if not isinstance(function, CompiledFunction):
        raise UserError(f"explain takes a function compiled by @cuvil.compile, got a {type(function).__name__}")
    name = getattr(function, "__qualname__", repr(function))
    return Explanation(name, tuple(function.specializations))


# -- calls -----------------------------------------------------------------------------------------------------------


class _ForeignArgument(Exception):
    """Among the arguments is an array of another library."""


def _as_tensors(arguments: Any, arrays: list[tuple[np.ndarray[Any, Any], Tensor]]) -> Any:
    """Arguments with tensors on the memory of other libraries' arrays; NumPy's go to `arrays` with their tensors."""

    def leaf(value: Any) -> Any:
        if not is_foreign(value):
            return value
        try:
            tensor = tensor_of(value, only_read=False)
        except ForeignError as error:
            raise ArgumentError(f"an argument is {error}") from error
        if isinstance(value, np.ndarray):
            arrays.append((value, tensor))
        return tensor

    return structures.mapped(leaf, arguments)


def _key_of(value: Any, tensors: list[Tensor]) -> Any:
    """The part of the signature that a value is; its tensors are added to `tensors`, ready to be read."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, tuple([_key_of(part, tensors) for part in value])
    if isinstance(value, Tensor):
        tensors.append(value)
        if value.layout is not torch.strided or (value.is_contiguous() and not value.is_neg()):
            return value.dtype, value.shape
        return value.dtype, value.shape, value.stride(), value.is_neg()
    if kind is int or kind is bool or kind is str or value is None:
        return kind, value
    if kind is float:
        return kind, repr(value)  # tells -0.0 from 0.0, and NaN is itself
    parts = structures.children(value)
    if parts is not None:
        return kind, tuple([(key, _key_of(part, tensors)) for key, part in parts])
    if isinstance(value, torch.dtype | torch.Size):
        return kind, value
    if is_foreign(value):
        raise _ForeignArgument
    return kind, id(value)


Run = Callable[[Sequence[Tensor], Any, Any], Any]


def _runner(program: ReadProgram, compiled: CompiledModule | None, is_contiguous: bool) -> Run:
    """Calls the code of a program on a call's tensors; positional and keyword arguments are for their containers."""
    template, effects = program.template, program.effects
    run: Callable[[Sequence[Tensor]], list[Tensor]] = (lambda tensors: []) if compiled is None else compiled.run_tensors
    if program.is_plain and template == Slot(0) and effects.results == (Computed(0),):
        if is_contiguous:
            return lambda tensors, args, kwargs: run(tensors)[0]
        return lambda tensors, args, kwargs: run(contiguous(tensors))[0]

    def call(tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Any:
        given = [*tensors, *(state.read() for state in effects.state)]
        results = write_back(effects, given, run(inputs_of(effects, given)))

        def filled(value: Any) -> Any:
            if isinstance(value, Slot):
                return results[value.index]
            if isinstance(value, At):
                return _reached((args, kwargs), value.path)
            parts = structures.children(value)
            return value if parts is None else structures.rebuilt(value, [filled(part) for _, part in parts])

        result = filled(template)
        for place, held in [
            (place, {key: filled(part) for key, part in held.items()}) for place, held in program.changed
        ]:
            structures.refill(_reached((args, kwargs), place.path), held)
        return result

    return call


def _reached(root: Any, path: Sequence[Any]) -> Any:
    """The part of a call's arguments that keys lead to."""
    for key in path:
        root = root[key] if isinstance(root, list | tuple | dict) else vars(root)[key]
    return root


def _canonical(bound: inspect.BoundArguments, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The key of the call with every argument by position; None where its tensors are others or in another order."""
    given, whole = list[Tensor](), list[Tensor]()
    _key_of(args, given)
    _key_of(kwargs, given)
    key = _key_of(bound.args, whole)
    is_same = not bound.kwargs and [id(each) for each in given] == [id(each) for each in whole]
    return key if is_same else None


def _described(arguments: dict[str, Any]) -> str:
    """A signature in words: `x: float32 [3]; threshold: 0.5`."""
    return "; ".join(f"{name}: {_shown(value)}" for name, value in arguments.items()) or "no arguments"


def _parts(signature: str) -> dict[str, str]:
    """A signature in words by argument."""
    parts = (part.partition(": ") for part in signature.split("; "))
    return {name: value for name, _, value in parts}


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    parts = structures.children(value)
    if parts is None:
        return describe(value)
    if isinstance(value, dict) or structures.is_instance_of_dataclass(value):
        return type(value).__name__ + "(" + ", ".join(f"{key}={_shown(part)}" for key, part in parts) + ")"
    return "(" + ", ".join(_shown(part) for _, part in parts) + ")"
