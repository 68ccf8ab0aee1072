"""One-op functions run natively and by the reference interpreter, many of them in one module.

    ops = NativeOps()
    x = ops.value(numpy_array, f32)
    ops.result("exp f32", ct.UnaryOp("exp", x))
    ops.check()

Integers, bools and whatever is only moved must be bit-identical; floats agree within a relative norm error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from cuvil.dialects import tensor as ct
from cuvil.semantics.arrays import Array, dtype_of, to_reference
from cuvil.semantics.comparison import compare
from cuvil.semantics.interpreter import Interpreter
from cuvil.semantics.native_execution import NativeProgram

ui8 = IntegerType(8, Signedness.UNSIGNED)

FLOATS: dict[str, Attribute] = {"f32": f32, "f64": f64, "f16": f16, "bf16": bf16}
INTEGERS: dict[str, Attribute] = {"i8": i8, "i16": i16, "i32": i32, "i64": i64, "ui8": ui8}
ELEMENTS: dict[str, Attribute] = {**FLOATS, **INTEGERS, "i1": i1}

BOUNDS = {"f64": 1e-14, "f32": 2e-6, "f16": 2e-3, "bf16": 1.2e-2}
"""Relative norm errors that single functions and short sums stay within: a few units in the last place."""


def numbers(element: Attribute, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Numbers of the type's whole range: floats of unit size, integers that wrap around in sums and products."""
    random = np.random.default_rng(seed + 1)
    dtype = dtype_of(element)
    if dtype.kind == "f":
        return to_reference(random.standard_normal(shape), element)
    if dtype.kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    limits = np.iinfo(dtype)
    drawn = random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    small = random.integers(max(limits.min, -5), 6, shape).astype(dtype)
    return np.asarray(np.where(random.random(shape) < 0.5, drawn, small))


def special(element: Attribute, count: int, seed: int = 0) -> Array:
    """`numbers` with NaN, infinities, signed zeros and extremes among them."""
    array = numbers(element, (count,), seed)
    dtype = dtype_of(element)
    if dtype.kind == "f":
        odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 100.0, -100.0]
    elif dtype.kind == "b":
        odd = [True, False]
    else:
        limits = np.iinfo(dtype)
        odd = [limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1]
    places = np.random.default_rng(seed).permutation(count)[: len(odd)]
    array[places] = np.array(odd[: len(places)], dtype)
    return to_reference(array, element)


@dataclass(frozen=True)
class Wanted:
    """A result, what to call it, and how near it must be (0: identical)."""

    label: str
    value: SSAValue
    bound: float


@dataclass
class NativeOps:
    """A function under construction: its arguments with their arrays, and the results to compare."""

    block: Block = field(default_factory=Block)
    inputs: list[Array] = field(default_factory=list[Array])
    wanted: list[Wanted] = field(default_factory=list[Wanted])
    globals: dict[str, tuple[Attribute, Array]] = field(default_factory=dict[str, tuple[Attribute, Array]])

    def value(self, array: Any, element: Attribute) -> SSAValue:
        """An argument of the function that holds `array`."""
        given = to_reference(np.asarray(array), element)
        self.inputs.append(given)
        return self.block.insert_arg(TensorType(element, given.shape), len(self.block.args))

    def weight(self, array: Any, element: Attribute) -> SSAValue:
        """A parameter that holds `array`."""
        given, name = to_reference(np.asarray(array), element), f"w{len(self.globals)}"
        self.globals[name] = (TensorType(element, given.shape), given)
        return self.made(ct.ParameterOp(name, TensorType(element, given.shape)))

    def made(self, op: Operation) -> SSAValue:
        """Append an op; its first result."""
        self.block.add_op(op)
        return op.results[0]

    def result(self, label: str, op: Operation | SSAValue, bound: float | None = None) -> None:
        """Return every result of `op`; `bound` is that of the element type where none is given, 0 for what is exact."""
        if isinstance(op, Operation):
            self.block.add_op(op)
        for value in op.results if isinstance(op, Operation) else [op]:
            element = str(ct.element_of(value))
            self.wanted.append(Wanted(label, value, BOUNDS.get(element, 0.0) if bound is None else bound))

    def module(self) -> ModuleOp:
        """The verified module with the function `@main`."""
        values = [wanted.value for wanted in self.wanted]
        self.block.add_op(func.ReturnOp(*values))
        types = [argument.type for argument in self.block.args], [value.type for value in values]
        declared = [ct.GlobalOp(name, type_) for name, (type_, _) in self.globals.items()]  # pyright: ignore
        module = ModuleOp([*declared, func.FuncOp("main", types, Region(self.block))])
        module.verify()
        return module

    def check(self, threads: int | None = None) -> None:
        """Fail with every result that differs from the reference."""
        module = self.module()
        parameters = {name: array for name, (_, array) in self.globals.items()}
        with np.errstate(all="ignore"):
            expected = Interpreter(module, parameters).run("main", self.inputs)
            computed = self.compute(module, parameters, threads)
            faults = [
                fault
                for wanted, result, reference in zip(self.wanted, computed, expected, strict=True)
                if (fault := _fault(wanted, result, reference)) is not None
            ]
        assert not faults, f"{len(faults)} of {len(expected)} results differ:\n" + "\n".join(faults)

    def compute(self, module: ModuleOp, parameters: dict[str, Array], threads: int | None) -> list[Array]:
        """What native code computes; a test of another way down puts its own in place of this."""
        return NativeProgram(module, "main", parameters, threads)(self.inputs)


def _fault(wanted: Wanted, result: Array, reference: Array) -> str | None:
    reference = np.asarray(reference)
    difference = compare(result, reference)
    fits = difference.is_exact if wanted.bound == 0 else difference.within(wanted.bound)
    if fits and reference.dtype.kind == "f":
        zeros = (reference == 0) & (result == 0)
        fits = bool((np.signbit(reference) == np.signbit(result))[zeros].all())
    if fits:
        return None
    if result.shape != reference.shape:
        return f"  {wanted.label}: shape {result.shape}, expected {reference.shape}"
    differs = ~((result == reference) | ((result != result) & (reference != reference)))
    if reference.dtype.kind == "f":
        differs |= (reference == 0) & (np.signbit(result) != np.signbit(reference))
    places = np.argwhere(differs)[:4].tolist()
    shown = ", ".join(f"{place}: {result[tuple(place)]} not {reference[tuple(place)]}" for place in places)
    return (
        f"  {wanted.label} {wanted.value.type}: {difference.relative_norm:.1e} at {int(differs.sum())} places: {shown}"
    )
