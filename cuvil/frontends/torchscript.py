"""TorchScript: scripted, traced and loaded modules and functions, read as Python functions are.

    compiled = cuvil.compile(torch.jit.load("model.pt"), (x,))

The graph, with its calls inlined, is run once on fake tensors under the tracer of the source front end: aten ops,
changes in place included, become `cuvil_tensor` as they happen; `prim::If` and `prim::Loop` on what tensors decide
become scf, on plain values they are resolved. It is thin on purpose: PyTorch has deprecated TorchScript.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _python_dispatch
from torch.utils._pytree import tree_leaves, tree_map
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from cuvil.compiled_module import CompiledModule
from cuvil.errors import CuvilError, InternalError, SourceLocation, UnsupportedError
from cuvil.frontends.exported import ImportedModule
from cuvil.frontends.source import numbers
from cuvil.frontends.source.calls import Calls, Readable, UserRaise, check_known
from cuvil.frontends.source.control import ABSENT, Absent, branch, is_dynamic
from cuvil.frontends.source.function import CompiledFunction
from cuvil.frontends.source.numbers import Number
from cuvil.frontends.source.syntax import SourceError
from cuvil.frontends.source.torch_control import carried_through, tried
from cuvil.frontends.torchscript_check import check_agreement
from cuvil.frontends.torchscript_ops import DTYPES, LAYOUTS, MEMORY_FORMATS, on_values, plain_result

_MODES: Any = _python_dispatch
MOST_UNROLLED = 64
"""Turns of a loop of known length, left early by what tensors hold, that are written one after the other."""
MOST_TURNS = 10_000
ENDLESS = 2**63 - 1
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')


def is_script(value: Any) -> bool:
    """Whether something is TorchScript: a function, a method or a module."""
    kind = type(value)
    return kind.__module__.startswith("torch.jit") and (
        isinstance(value, torch.jit.ScriptFunction | torch.jit.ScriptModule) or hasattr(value, "inlined_graph")
    )


@dataclass(frozen=True)
class _Part:
    """A module within the scripted one."""

    module: Any
    path: str


class Script(Readable):
    """A scripted module or function as the source front end calls it."""

    def __init__(self, scripted: Any) -> None:
        self.scripted = scripted
        self.is_module = isinstance(scripted, nn.Module)
        method: Any = scripted.forward if self.is_module else scripted
        self.schema = method.schema
        self.graph = scripted.inlined_graph if self.is_module else method.inlined_graph
        name = getattr(scripted, "original_name", None) or getattr(scripted, "name", None)
        self.__name__ = self.__qualname__ = str(name or "function")
        self.__signature__ = self._signature()
        self.held = [*scripted.named_parameters(), *scripted.named_buffers()] if self.is_module else []
        """Kept, so that their identities stay."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.scripted(*args, **kwargs)

    def _signature(self) -> inspect.Signature:
        """The parameters, without self."""
        parameters: list[inspect.Parameter] = []
        for argument in self.schema.arguments[self.is_module :]:
            kind = inspect.Parameter.KEYWORD_ONLY if argument.kwarg_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
            default = argument.default_value if argument.has_default_value() else inspect.Parameter.empty
            name = argument.name if argument.name.isidentifier() else f"arg{len(parameters)}"
            parameters.append(inspect.Parameter(name, kind, default=default))
        return inspect.Signature(parameters)

    def read(self, reader: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call gives, read in place of the call."""
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        for path, tensor in self.held:
            reader.tracer.names.setdefault(id(tensor), path)
        if self.is_module:
            reader.outside.saw(self.scripted)
        given = [*([_Part(self.scripted, "")] if self.is_module else []), *bound.arguments.values()]
        if len(given) != len(list(self.graph.inputs())):
            raise UnsupportedError("the function takes tuples apart in its signature, which is not read; pass tensors")
        return _Walk(reader, []).block(self.graph, given)[0]


class _Walk:
    """Runs blocks of a graph; `frames` are the values of the blocks around, innermost last."""

    def __init__(self, reader: Calls, frames: list[dict[str, Any]]) -> None:
        self.reader = reader
        self.tracer = reader.tracer
        self.frames = frames

    def block(self, block: Any, given: Sequence[Any]) -> tuple[Any, ...]:
        """The values that a block returns."""
        frame = {each.debugName(): value for each, value in zip(block.inputs(), given, strict=True)}
        self.frames.append(frame)
        self.reader.frames.append(frame)
        try:
            for node in block.nodes():
                self.placed(node)
            return tuple(self.value(each) for each in block.outputs())
        finally:
            self.reader.frames.pop()
            self.frames.pop()

    def value(self, name: Any) -> Any:
        """The present value of a graph's value."""
        wanted = name.debugName()
        for frame in reversed(self.frames):
            if wanted in frame:
                return frame[wanted]
        raise InternalError(f"value %{wanted} of a TorchScript graph is not known")

    def placed(self, node: Any) -> None:
        """Run a node; its operations and errors are at its place in the source."""
        place = _place_of(node)
        if place is not None:
            self.tracer.at(FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column)))
        try:
            results = self.node(node)
        except (SourceError, UserRaise, InternalError):
            raise
        except CuvilError as error:
            if place is None or type(error) is not UnsupportedError:
                raise
            raise SourceError(f"{node.kind()}: {error.message}", place) from None
        except Exception as error:  # torch refuses what eager refuses, in its own words
            message = f"{node.kind()}: {_explained(error)}"
            raise (UnsupportedError(message) if place is None else SourceError(message, place)) from error
        outputs = list(node.outputs())
        values = results if len(outputs) != 1 else (results,)
        for output, value in zip(outputs, values or (), strict=False):
            self.frames[-1][output.debugName()] = value

    def node(self, node: Any) -> Any:
        """The result of a node; a tuple of them where it has several or none."""
        kind = node.kind()
        structural = _STRUCTURAL.get(kind)
        if structural is not None:
            return structural(self, node)
        args = tuple(self.inputs(node))
        check_known(args)
        return self.call(node, kind, args)

    def call(self, node: Any, kind: str, args: tuple[Any, ...]) -> Any:
        """The result of an op."""
        space, _, name = kind.partition("::")
        tensors = [leaf for leaf in tree_leaves(list(args)) if isinstance(leaf, Tensor)]
        if name in ("NumToTensor", "tensor", "as_tensor", "scalar_tensor") and not tensors:
            value, *rest = args
            dtype = DTYPES[rest[0]] if name != "NumToTensor" and rest and isinstance(rest[0], int) else None
            if not isinstance(value, Number):
                return _known(lambda: torch.tensor(value, dtype=dtype))
        if tensors and all(not isinstance(leaf, FakeTensor) and leaf.numel() <= 1 for leaf in tensors):
            return self.known(node, name, args)
        found = on_values(name, args)
        if found is not NotImplemented:
            return found
        if any(isinstance(arg, Number) for arg in args):
            return self.with_numbers(node, name, args)
        if not tensors and space == "aten" and not _makes_tensor(node):
            plain = plain_result(name, args)
            if plain is not NotImplemented:
                return plain
        return _operator(node)(*args)

    def known(self, node: Any, name: str, args: tuple[Any, ...]) -> Any:
        """The result of an op on tensors whose one element is known (sizes, in traced graphs): computed now."""
        if name in ("Int", "Float", "Bool", "item", "IntImplicit", "FloatImplicit", "ScalarImplicit"):
            value = _known(args[0].item)
            return {"I": int, "F": float, "B": bool}.get(name[0], lambda same: same)(value)
        if name == "ImplicitTensorToNum":
            return _known(args[0].item)
        found = on_values(name, args)
        if found is not NotImplemented:
            return found
        return (
            _known(lambda: _operator(node)(*args))
            if not any(isinstance(arg, Number) for arg in args)
            else (self.with_numbers(node, name, args))
        )

    def with_numbers(self, node: Any, name: str, args: tuple[Any, ...]) -> Any:
        """An op on tensors and numbers that only the running program knows."""
        packet: Any = getattr(torch.ops.aten, name, None)
        if packet is None:
            raise UnsupportedError("a number that only the running program knows is used by an op that must know it")
        kinds = [isinstance(arg, Tensor) for arg in args[:2]]
        if kinds in ([True, False], [False, True]) and any(isinstance(arg, Number) for arg in args[:2]):
            rest = _rest(args[2:])
            return numbers.binary(lambda lhs, rhs: packet(lhs, rhs, *rest), args[0], args[1])
        if name == "select" and isinstance(args[2], Number):
            return torch.index_select(args[0], args[1], args[2].tensor.reshape(1)).squeeze(args[1])
        return packet(*(arg.tensor if isinstance(arg, Number) else arg for arg in args))

    # -- control flow ------------------------------------------------------------------------------------------------

    def branched(self, node: Any) -> Any:
        """prim::If."""
        (condition,) = self.inputs(node)
        check_known(condition)
        then, otherwise = node.blocks()
        if not is_dynamic(condition):
            values: Any = self.block(then if condition else otherwise, ())
        else:
            values = branch(
                self.tracer,
                self.reader.frames,
                condition,
                lambda: self.block(then, ()),
                lambda: self.block(otherwise, ()),
            )
        return _unpacked(node, values)

    def looped(self, node: Any) -> Any:
        """prim::Loop: the number of turns at most, whether there is a first one, what is carried."""
        most, go, *carried = self.inputs(node)
        check_known((most, go, carried))
        return _unpacked(node, self.turns(next(iter(node.blocks())), 0, most, go, tuple(carried)))

    def turns(self, body: Any, turn: int, most: Any, go: Any, carried: tuple[Any, ...]) -> tuple[Any, ...]:
        while not is_dynamic(most) and not is_dynamic(go):
            if not go or turn >= most:
                return carried
            if turn >= MOST_TURNS:
                raise UnsupportedError(f"a loop on plain values runs more than {MOST_TURNS} times; loop on tensors")
            go, *left = self.block(body, (turn, *carried))
            carried, turn = tuple(left), turn + 1
        if not is_dynamic(most) and most - turn <= MOST_UNROLLED:
            state = carried
            if turn >= most:
                return state
            return branch(
                self.tracer,
                self.reader.frames,
                go,
                lambda: self.turns(body, turn, most, True, state),
                lambda: state,
            )
        return self.loop(body, turn, most, go, carried)

    def loop(self, body: Any, turn: int, most: Any, go: Any, carried: tuple[Any, ...]) -> tuple[Any, ...]:
        """A loop whose length tensors decide."""

        def once(state: tuple[Any, ...]) -> tuple[Any, ...]:
            number, _, values = state
            go, *left = self.block(body, (number, *values))
            return numbers.binary(_add, number, 1) if isinstance(number, Number) else number + 1, go, tuple(left)

        def test(state: tuple[Any, ...]) -> Any:
            number, go, _ = state
            if isinstance(most, int) and most == ENDLESS:
                return go
            left = numbers.binary(_less, number, most)
            return left if go is True else numbers.binary(_both, left, go)

        if any(isinstance(leaf, Absent) for leaf in carried):
            carried = self.filled(once, (turn, go, carried))
        return carried_through(self.reader, (turn, go, carried), test, once)[2]

    def filled(self, once: Callable[[Any], Any], state: tuple[Any, ...]) -> tuple[Any, ...]:
        """What is carried, with zeros where it has no value before the first turn."""
        _, _, after = tried(self.reader, lambda: once(state))
        return tuple(
            tree_map(_zeros, new) if isinstance(old, Absent) else old for old, new in zip(state[2], after, strict=True)
        )

    # -- structure ---------------------------------------------------------------------------------------------------

    def constant(self, node: Any) -> Any:
        """prim::Constant: a weight of a frozen module among them."""
        output = node.output()
        return output.toIValue()

    def attribute(self, node: Any) -> Any:
        """prim::GetAttr of a module."""
        holder = self.value(node.input())
        name = node.s("name")
        if not isinstance(holder, _Part):
            return getattr(holder, name)
        value = getattr(holder.module, name)
        path = f"{holder.path}.{name}".lstrip(".")
        if isinstance(value, nn.Module):
            return _Part(value, path)
        if isinstance(value, Tensor):
            self.reader.outside.found(value, holder.module, name)
            return self.tracer.found(value, path)
        return list(value) if isinstance(value, list) else value

    def raised(self, node: Any) -> Any:
        """prim::RaiseException."""
        message = self.inputs(node)[0]
        if self.tracer.builder.block is not self.tracer.entry:
            raise UnsupportedError(f"this raises where tensors say so ({message}); check that outside of the model")
        raise UserRaise(RuntimeError(str(message)))

    def inputs(self, node: Any) -> list[Any]:
        """The values of a node's inputs."""
        return [self.value(each) for each in node.inputs()]

    def assigned(self, node: Any) -> Any:
        """prim::SetAttr."""
        raise UnsupportedError(f"attribute '{node.s('name')}' of a module is assigned; return the new value instead")


def _pairs(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


_STRUCTURAL: dict[str, Callable[[_Walk, Any], Any]] = {
    "prim::Constant": _Walk.constant,
    "prim::GetAttr": _Walk.attribute,
    "prim::SetAttr": _Walk.assigned,
    "prim::If": _Walk.branched,
    "prim::Loop": _Walk.looped,
    "prim::RaiseException": _Walk.raised,
    "prim::Uninitialized": lambda walk, node: ABSENT,
    "prim::ListConstruct": lambda walk, node: walk.inputs(node),
    "prim::TupleConstruct": lambda walk, node: tuple(walk.inputs(node)),
    "prim::DictConstruct": lambda walk, node: _pairs(walk.inputs(node)),
    "prim::ListUnpack": lambda walk, node: _unpacked(node, tuple(walk.inputs(node)[0])),
    "prim::TupleUnpack": lambda walk, node: _unpacked(node, tuple(walk.inputs(node)[0])),
    "prim::TupleIndex": lambda walk, node: walk.inputs(node)[0][walk.inputs(node)[1]],
    "prim::TupleSlice": lambda walk, node: walk.inputs(node)[0][node.i("beg") : node.i("end")],
    "prim::data": lambda walk, node: walk.inputs(node)[0].detach(),
}


def _unpacked(node: Any, values: Any) -> Any:
    """Values of a node as `placed` takes them: alone where there is one output."""
    return values[0] if node.outputsSize() == 1 else values


# -- ops of torch ----------------------------------------------------------------------------------------------------


def _operator(node: Any) -> Callable[..., Any]:
    """The torch op of a node, called as TorchScript calls it: all by position, dtypes as numbers."""
    schema = node.schema()
    if schema == "(no schema)":
        raise UnsupportedError(f"there is no reading of {node.kind()}; export the model by torch.export instead")
    qualified, _, _ = schema.partition("(")
    space, _, name = qualified.partition("::")
    packet, _, overload = name.partition(".")
    family: Any = getattr(getattr(torch.ops, space), packet)
    op: Any = getattr(family, overload or "default")
    declared = op._schema.arguments

    def run(*args: Any) -> Any:
        given = [_as_declared(str(each.real_type), value) for each, value in zip(declared, args, strict=False)]
        place = next((place for place, each in enumerate(declared) if each.kwarg_only), len(declared))
        names = [each.name for each in declared[place:]]
        return op(*given[:place], **dict(zip(names, given[place:], strict=False)))

    return run


def _as_declared(kind: str, value: Any) -> Any:
    """A value as Python passes it where the schema says `kind`."""
    if type(value) is int:
        for name, values in (("ScalarType", DTYPES), ("Layout", LAYOUTS), ("MemoryFormat", MEMORY_FORMATS)):
            if name in kind:
                return values[value]
    return value


def _explained(error: Exception) -> str:
    name = type(error).__name__
    if name in ("DynamicOutputShapeException", "DataDependentOutputException"):
        return "the result depends on the values of tensors; use torch.where or a mask of fixed size instead"
    return f"{name}: {' '.join(str(error).split())[:300]}"


def _rest(rest: tuple[Any, ...]) -> tuple[Any, ...]:
    """What follows the operands of a binary op: a factor of one (`alpha`) is left out."""
    return () if all(each == 1 for each in rest) else rest


def _makes_tensor(node: Any) -> bool:
    return any(str(each.type()) == "Tensor" for each in node.outputs())


def _known(compute: Callable[[], Any]) -> Any:
    """What is computed on real tensors, outside of the tracer."""
    with _MODES._disable_current_modes():
        return compute()


def _zeros(like: Any) -> Any:
    return torch.zeros(like.shape, dtype=like.dtype) if isinstance(like, Tensor) else like


def _add(lhs: Any, rhs: Any) -> Any:
    return lhs + rhs


def _less(lhs: Any, rhs: Any) -> Any:
    return lhs < rhs


def _both(lhs: Any, rhs: Any) -> Any:
    return lhs & rhs


def _place_of(node: Any) -> SourceLocation | None:
    """Where a node stands in the user's source, as TorchScript remembers it."""
    text: str = node.sourceRange()
    found = _PLACE.search(text)
    if found is None:
        return None
    lines = text.splitlines()
    mark = next((number for number, line in enumerate(lines) if line.endswith("<--- HERE")), None)
    if mark is None:
        return SourceLocation(found[1], int(found[2]), 1)
    marked = lines[mark].removesuffix("<--- HERE").rstrip()
    column = len(marked) - len(marked.lstrip())
    return SourceLocation(found[1], int(found[2]), column + 1, max(len(marked) - column, 1))


# -- the door --------------------------------------------------------------------------------------------------------


def compile_script(
    scripted: Any,
    lower: Callable[[ImportedModule], CompiledModule],
    example_inputs: Sequence[Any] | None,
    kwargs: Mapping[str, Any] | None,
) -> CompiledFunction:
    """TorchScript as a compiled function; with example inputs it is compiled for them, and compared with the script.

    Raises `ScriptMismatchError` where compiled code gives other results.
    """
    compiled = CompiledFunction(cast(Any, Script(scripted)), lower)
    if example_inputs is None:
        return compiled
    args = (example_inputs,) if isinstance(example_inputs, Tensor) else tuple(example_inputs)
    keywords = dict(kwargs or {})
    compiled.specialize(args, keywords)
    (made,) = compiled.specializations
    if not made.program.effects.state:  # running the script would change its module
        check_agreement(scripted, compiled, args, keywords)
    return compiled
