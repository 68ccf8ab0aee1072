"""The reference interpreter: what Cuvil's IR means, in NumPy, at every level that works on whole tensors.

`MEANINGS` maps an op's name to a function `(frame, op, operands) -> results`; the families are in `meanings_*.py`. A
composite is interpreted by its declared decomposition (`decompositions.py`), so the two cannot differ. How element
types map to arrays, and how floats are rounded, says `arrays.py`. A function's symbolic dims get their sizes from the
arrays that it is called with.

    results = run_function(module, "main", [x], {"weight": w})

An operation that fails raises an `InterpretationError` that names it and its location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import DiagnosticException

from cuvil.dialects.tensor import CompositeOp, GlobalOp, shape_of
from cuvil.dialects.types import is_nameless
from cuvil.errors import CuvilError, Locatable, UserError, source_location
from cuvil.semantics.arrays import Array, dtype_of, to_reference
from cuvil.semantics.dims import Dim, DimExpr
from cuvil.semantics.symbol_binding import bind_symbols

Value: TypeAlias = Any
"""An array for a tensor, memref or vector; a NumPy scalar for a scalar."""

Meaning: TypeAlias = "Callable[[Frame, Any, Sequence[Any]], Sequence[Value] | None]"

Decomposed: TypeAlias = "tuple[Sequence[SSAValue], Block, SSAValue]"
"""Values that stand for a composite's operands, its core ops in a block of their own that uses them, and its result."""

_FAMILIES = (
    *("structure", "elementwise", "movement", "reduction", "contraction"),
    *("scalar", "loops", "fused", "custom", "gpu"),
)


class InterpretationError(CuvilError):
    """An operation could not be executed: the message names it, the location is its own."""


def run_function(
    module: ModuleOp, name: str, inputs: Sequence[Array], parameters: Mapping[str, Array] | None = None
) -> list[Array]:
    """The results of the module's function `name`; `parameters` are the values of its external globals by name.

    Raises `InterpretationError` where an operation fails, and `UserError` where the arguments do not fit the function.
    """
    return Interpreter(module, parameters).run(name, inputs)


class Interpreter:
    """A module with its globals' values; initializers are evaluated when first used, and once."""

    module: ModuleOp
    parameters: Mapping[str, Array]
    unwritten: set[int]
    """Addresses of buffers that the host has not written: the simulator finds kernels that read them."""

    def __init__(self, module: ModuleOp, parameters: Mapping[str, Array] | None = None) -> None:
        self.module = module
        self.parameters = parameters or {}
        self.unwritten = set()
        self._globals: dict[str, Array] = {}
        self._deaths: dict[Block, Mapping[Operation, Sequence[SSAValue]]] = {}
        self._decomposed: dict[Operation, Decomposed] = {}
        self._symbols = {
            op.properties["sym_name"].data: op  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            for op in module.body.block.ops
            if "sym_name" in op.properties
        }

    def run(self, name: str, inputs: Sequence[Array]) -> list[Array]:
        """The results of function `name`."""
        function = self.function(name)
        types = list(function.function_type.inputs)
        if len(inputs) != len(types):
            raise UserError(f"function @{name} takes {len(types)} arguments, got {len(inputs)}", function)
        with np.errstate(all="ignore"):
            return list(self.call(function, [_argument(*pair) for pair in zip(inputs, types, strict=True)]))

    def function(self, name: str, place: Locatable = None) -> FuncOp:
        """The function called `name`. Raises `UserError` if there is none."""
        found = self._symbols.get(name)
        if not isinstance(found, FuncOp):
            known = ", ".join(f"@{other}" for other, op in self._symbols.items() if isinstance(op, FuncOp))
            raise UserError(f"there is no function @{name} in the module; it has {known or 'none'}", place)
        return found

    def symbol(self, name: str) -> Operation | None:
        """The operation at the top of the module that is called `name`."""
        return self._symbols.get(name)

    def call(self, function: FuncOp, arguments: Sequence[Value]) -> Sequence[Value]:
        """The results of a function of the module."""
        name = function.sym_name.data
        if function.is_declaration:
            raise UserError(f"function @{name} is declared without a body", function)
        frame = Frame(self, _symbols_of(name, function, function.function_type.inputs.data, arguments))
        return frame.run(function.body, arguments)

    def evaluate(self, name: str, symbols: Mapping[str, int]) -> Value:
        """The result of a function without arguments where the symbols have these values."""
        (value,) = Frame(self, symbols).run(self.function(name).body, ())
        return value

    def deaths(self, block: Block) -> Mapping[Operation, Sequence[SSAValue]]:
        """For each operation of the block, the values of the block that nothing needs once it has run."""
        found = self._deaths.get(block)
        if found is None:
            found = self._deaths[block] = _dead_after(block)
        return found

    def decomposed(self, op: CompositeOp) -> Decomposed:
        """The declared decomposition of a composite."""
        found = self._decomposed.get(op)
        if found is None:
            from cuvil.semantics.decompositions import decompose

            # Of a copy on operands of its own: the module's values must not get uses that its passes would count.
            operands = Block(arg_types=op.operand_types).args
            copy = type(op).create(
                operands=operands, result_types=op.result_types, properties=op.properties, location=op.location
            )
            found = self._decomposed[op] = (operands, *decompose(copy))
        return found

    def global_value(self, name: str, place: Locatable = None) -> Array:
        """The value of global `name`: given by `parameters`, or computed by its initializer.

        Raises `UserError` if it has neither, or if the value given is of another shape.
        """
        if (value := self._globals.get(name)) is not None:
            return value
        found = self._symbols.get(name)
        if isinstance(found, GlobalOp) and found.initializer is not None:
            with np.errstate(all="ignore"):
                (value,) = Frame(self, {}).run(found.initializer, ())
        elif name in self.parameters:
            value = self.parameters[name]
            if isinstance(found, GlobalOp):
                _check_shape(f"parameter '{name}'", value, found.value_type, found)
                value = to_reference(value, found.value_type.element_type)
        else:
            raise UserError(f"parameter '{name}' has no value", place)
        self._globals[name] = value
        return value

    def computed_globals(self) -> dict[str, Array]:
        """The values of all globals that have an initializer."""
        return {
            op.sym_name.data: self.global_value(op.sym_name.data, op)
            for op in self._symbols.values()
            if isinstance(op, GlobalOp) and op.initializer is not None
        }


class Frame:
    """A running function: the sizes of its symbolic dims and the values computed so far."""

    interpreter: Interpreter
    symbols: Mapping[str, int]

    def __init__(self, interpreter: Interpreter, symbols: Mapping[str, int]) -> None:
        self.interpreter = interpreter
        self.symbols = symbols
        self._values: dict[SSAValue, Value] = {}

    def run(self, region: Region, arguments: Sequence[Value]) -> Sequence[Value]:
        """The operands of the terminator that a region ends with, started with `arguments`.

        A terminator whose meaning is a jump gives the next block (`Jump`); regions of several blocks run so.
        """
        block = region.block if region.first_block is region.last_block else region.blocks[0]
        while True:
            last, operands = self.run_block(block, arguments)
            if not isinstance(last, Jump):
                return operands
            block, arguments = last.block, operands

    def run_block(self, block: Block, arguments: Sequence[Value]) -> tuple[Operation | Jump | None, Sequence[Value]]:
        """Run a block; its terminator (or where that jumps to) with the terminator's operands. None without one."""
        values = self._values
        values.update(zip(block.args, arguments, strict=True))
        dead_after = self.interpreter.deaths(block)
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if op.has_trait(IsTerminator, value_if_unregistered=False):
                jump = _jumps().get(op.name)
                return jump(op, operands) if jump is not None else (op, operands)
            values.update(zip(op.results, self.execute(op, operands), strict=True))
            for value in dead_after.get(op, ()):
                values.pop(value, None)
        return None, ()

    def execute(self, op: Operation, operands: Sequence[Value]) -> Sequence[Value]:
        """The results of one operation."""
        meaning = meanings().get(op.name)
        try:
            if meaning is not None:
                return meaning(self, op, operands) or ()
            if isinstance(op, CompositeOp):
                return self._by_decomposition(op, operands)
        except CuvilError as error:
            error.location = error.location or source_location(op)
            raise
        except DiagnosticException as error:
            raise InterpretationError(str(error), op) from error
        except Exception as error:  # whatever NumPy raises, the user must see which operation it was
            raise InterpretationError(f"{op.name}: {error}", op) from error
        raise InterpretationError(f"{op.name}: the reference interpreter has no meaning for this operation", op)

    def size(self, dim: Dim) -> int:
        """The number that a dim is in this run. Raises `InterpretationError` where a symbol is not bound."""
        if isinstance(dim, int):
            return dim
        try:
            return dim.evaluate(self.symbols)
        except KeyError as error:
            raise InterpretationError(f"dim {dim}: the size of {error.args[0]} follows from no argument") from error

    def shape(self, shaped_type: Attribute) -> tuple[int, ...]:
        """The shape of values of a tensor or memref type in this run."""
        return tuple(self.size(dim) for dim in shape_of(shaped_type))

    def nested(self, types: Sequence[Attribute], values: Sequence[Value]) -> Frame:
        """A frame for a region isolated from above whose arguments have these types and values."""
        return Frame(self.interpreter, {**self.symbols, **bind_symbols(_shapes(types, values))})

    def _by_decomposition(self, op: CompositeOp, operands: Sequence[Value]) -> Sequence[Value]:
        arguments, block, result = self.interpreter.decomposed(op)
        return self.run_apart(block, dict(zip(arguments, operands, strict=True)), [result])

    def run_apart(self, block: Block, given: Mapping[SSAValue, Value], wanted: Sequence[SSAValue]) -> Sequence[Value]:
        """Values that a block without a terminator computes from those `given`."""
        frame = Frame(self.interpreter, self.symbols)
        frame._values.update(given)
        frame.run_block(block, ())
        return [frame._values[value] for value in wanted]


class Jump:
    """Where a block's terminator goes on: `cf.br` and `cf.cond_br`."""

    block: Block

    def __init__(self, block: Block) -> None:
        self.block = block


@cache
def meanings() -> Mapping[str, Meaning]:
    """All meanings, by op name."""
    table: dict[str, Meaning] = {}
    for family in _FAMILIES:
        table.update(import_module(f"cuvil.semantics.meanings_{family}").MEANINGS)
    return table


@cache
def _jumps() -> Mapping[str, Callable[[Any, Sequence[Value]], tuple[Jump, Sequence[Value]]]]:
    from cuvil.semantics.meanings_structure import JUMPS

    return JUMPS


def _dead_after(block: Block) -> Mapping[Operation, Sequence[SSAValue]]:
    region = block.parent
    if region is not None and region.first_block is not region.last_block:
        return {}  # another block may need any of them
    last: dict[SSAValue, Operation] = {}
    for op in block.ops:
        for inner in op.walk():
            for operand in inner.operands:
                if operand.owner is block or getattr(operand.owner, "parent", None) is block:
                    last[operand] = op
    dead: dict[Operation, list[SSAValue]] = {}
    for value, op in last.items():
        dead.setdefault(op, []).append(value)
    return dead


def _argument(value: Array, declared: Attribute) -> Value:
    if isinstance(declared, TensorType):
        return to_reference(value, declared.element_type)
    if isinstance(declared, MemRefType):
        return value
    return dtype_of(declared).type(value)


def _symbols_of(name: str, place: Operation, types: Sequence[Attribute], values: Sequence[Value]) -> dict[str, int]:
    for number, (declared, value) in enumerate(zip(types, values, strict=True)):
        if isinstance(declared, TensorType | MemRefType) and not is_nameless(declared):
            _check_shape(f"argument {number} of @{name}", value, declared, place)
    return bind_symbols(_shapes(types, values))


def _shapes(types: Sequence[Attribute], values: Sequence[Value]) -> Iterable[tuple[Dim, int]]:
    for declared, value in zip(types, values, strict=True):
        if isinstance(declared, TensorType | MemRefType) and not is_nameless(declared):
            yield from zip(shape_of(declared), np.shape(value), strict=True)


def _check_shape(what: str, value: Array, declared: Any, place: Operation) -> None:
    shape, wanted = np.shape(value), shape_of(declared)
    fits = len(shape) == len(wanted) and all(
        isinstance(dim, DimExpr) or dim == size for dim, size in zip(wanted, shape, strict=True)
    )
    if not fits:
        got = "x".join(map(str, shape)) or "scalar"
        raise UserError(f"{what} has shape {got}, expected {declared}", place)
