"""`@cuvil.compile` on Python functions: one piece of native code for each signature, made at the first call with it.

A signature is the dtypes and shapes of tensors and the values of everything else. What the function read outside of its
arguments (globals, closure variables, attributes) is guarded: code is used while those values are what they were.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, overload

import torch
from torch import Tensor
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region

from cuvil.arguments import ArgumentError
from cuvil.compiled_module import CompiledModule
from cuvil.errors import UnsupportedError, UserError
from cuvil.frontends.exported import ImportedModule, Input, Output
from cuvil.frontends.source import structures
from cuvil.frontends.source.calls import UserRaise
from cuvil.frontends.source.control import describe
from cuvil.frontends.source.numbers import Number
from cuvil.frontends.source.reader import Reader
from cuvil.frontends.source.scopes import Guard, Guards
from cuvil.frontends.source.syntax import SourceError, syntax_of
from cuvil.frontends.source.trace import Tracer

if TYPE_CHECKING:
    from cuvil.frontends.dynamo import GraphsExplanation


@dataclass(frozen=True)
class ReadProgram:
    """A function read for one signature."""

    imported: ImportedModule | None
    """None of a function that returns no tensor."""
    template: Any
    """The result with `_Slot`s in the place of tensors and numbers."""
    guards: tuple[Guard, ...]
    kept: list[Any]
    """Objects that the code was made for: while it lives, no other has their identity."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """The place of a compiled result; a number is given as a Python one."""

    index: int
    is_number: bool = False


@dataclass
class Specialization:
    """The code of one signature."""

    signature: str
    reason: str
    program: ReadProgram
    compiled: CompiledModule | None
    seconds: float
    run: Callable[[Sequence[Tensor]], Any]

    def holds(self) -> bool:
        """Whether everything that the code was made for outside of its arguments is as it was."""
        return all(guard.holds() for guard in self.program.guards)


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
        if syntax_of(function) is None:
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
        key = (_key_of(args, tensors), _key_of(kwargs, tensors)) if kwargs else _key_of(args, tensors)
        for each in self._known.get(key, ()):
            if each.holds():
                return each.run(tensors)
        return self._specialized(key, args, kwargs).run(tensors)

    def specialize(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compile for arguments like these ahead of the first call."""
        tensors: list[Tensor] = []
        key = (_key_of(args, tensors), _key_of(kwargs, tensors)) if kwargs else _key_of(args, tensors)
        self._specialized(key, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def _specialized(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialization:
        with self._lock:
            for each in self._known.get(key, ()):
                if each.holds():
                    return each
            try:
                bound = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ArgumentError(f"{self.function.__name__}: {error}") from None
            bound.apply_defaults()
            whole = _canonical(bound, args, kwargs)
            for each in self._known.get(whole, ()):
                if each.holds():
                    self._known.setdefault(key, []).append(each)
                    return each
            made = self._compiled(bound, args, kwargs)
            self.specializations.append(made)
            for each in {key, whole} - {None}:
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
        run = _runner(program, compiled)
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


# -- reading ---------------------------------------------------------------------------------------------------------


def read_function(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ReadProgram:
    """A function as IR for arguments like these; `args` and `kwargs` leaves that are tensors become its inputs.

    Raises `SourceError` at the place in the source that cannot be read.
    """
    tracer, guards = Tracer(), Guards()
    reader = Reader(tracer, guards)
    inputs: list[Input] = []
    kept: list[Any] = []

    def argument(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            kept.append(leaf)
            return reader.seen(leaf, "argument")
        if leaf.device.type != "cpu" or leaf.layout != torch.strided:
            raise ArgumentError(f"an argument is a {leaf.layout} tensor on {leaf.device}, expected a dense one on cpu")
        name = f"arg{len(inputs)}"
        fake = tracer.argument(leaf, name)
        inputs.append(Input(name, fake_type(tracer, fake), leaf.dtype))
        return fake

    syntax = syntax_of(function)
    assert syntax is not None
    own_args, own_kwargs = structures.mapped(argument, (args, kwargs))
    given = [(each, structures.contents(each)) for each in structures.containers((own_args, own_kwargs))]
    try:
        with torch.no_grad(), _plain_kernels(), tracer:
            result = reader.call_read(function, own_args, own_kwargs)
            _refuse_changes(given)
            outputs, results, template = _results(tracer, result)
    except SourceError:
        raise
    except UnsupportedError as error:
        raise SourceError(error.message, syntax.source.place(syntax.node)) from None
    kept += guards.kept
    if not results:
        return ReadProgram(None, template, tuple(guards.found.values()), kept)
    last = ReturnOp(*results)
    last.location = UNKNOWN_LOC
    tracer.entry.add_op(last)
    types = ([each.type for each in tracer.entry.args], [each.type for each in results])
    module = ModuleOp([*tracer.globals.values(), FuncOp("main", types, Region([tracer.entry]))])
    imported = ImportedModule(module, tracer.parameters, tuple(inputs), tuple(outputs), None, None)
    return ReadProgram(imported, template, tuple(guards.found.values()), kept)


@contextmanager
def _plain_kernels() -> Generator[None]:
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


def fake_type(tracer: Tracer, fake: Tensor) -> Any:
    """The tensor type of a fake tensor."""
    return tracer.value_of(fake).type


def _refuse_changes(given: list[tuple[Any, dict[Any, Any]]]) -> None:
    for container, before in given:
        now = structures.contents(container)
        if now.keys() != before.keys() or any(now[key] is not before[key] for key in now):
            raise UnsupportedError(
                f"the function changes a {type(container).__name__} that it was given; make a new one and return it"
            )


def _results(tracer: Tracer, result: Any) -> tuple[list[Output], list[Any], Any]:
    outputs: list[Output] = []
    values: list[Any] = []

    def leaf(value: Any) -> Any:
        if not isinstance(value, Tensor | Number):
            return value
        fake = value.tensor if isinstance(value, Number) else value
        ssa = tracer.value_of(fake)
        values.append(ssa)
        outputs.append(Output(ssa.type, fake.dtype))  # pyright: ignore[reportArgumentType]
        return _Slot(len(values) - 1, isinstance(value, Number))

    return outputs, values, structures.mapped(leaf, result)


# -- calls -----------------------------------------------------------------------------------------------------------


def _key_of(value: Any, tensors: list[Tensor]) -> Any:
    """The part of the signature that a value is; its tensors are added to `tensors`, ready to be read."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, tuple([_key_of(part, tensors) for part in value])
    if isinstance(value, Tensor):
        if not (value.is_contiguous() and not value.is_neg() and not value.requires_grad):
            value = value.detach().contiguous().resolve_neg()
        tensors.append(value)
        return value.dtype, value.shape
    if kind is int or kind is bool or kind is str or value is None:
        return kind, value
    if kind is float:
        return kind, repr(value)  # tells -0.0 from 0.0, and NaN is itself
    parts = structures.children(value)
    if parts is not None:
        return kind, tuple([(key, _key_of(part, tensors)) for key, part in parts])
    return kind, value if isinstance(value, torch.dtype | torch.Size) else id(value)


def _runner(program: ReadProgram, compiled: CompiledModule | None) -> Callable[[Sequence[Tensor]], Any]:
    template = program.template
    if compiled is None:
        return lambda tensors: structures.mapped(lambda leaf: leaf, template)
    run = compiled.run_tensors
    if isinstance(template, _Slot) and not template.is_number:
        return lambda tensors: run(tensors)[0]

    def call(tensors: Sequence[Tensor]) -> Any:
        results = run(tensors)

        def leaf(value: Any) -> Any:
            if not isinstance(value, _Slot):
                return value
            return results[value.index].item() if value.is_number else results[value.index]

        return structures.mapped(leaf, template)

    return call


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
