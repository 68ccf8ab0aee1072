"""Types and constants as LLVM IR writes them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute

from cuvil.errors import UnsupportedError

_FLOATS: dict[type[Attribute], str] = {
    Float16Type: "half",
    BFloat16Type: "bfloat",
    Float32Type: "float",
    Float64Type: "double",
}


class LiteralTexts:
    """Texts of types and constants; each distinct one is made once."""

    def __init__(self) -> None:
        self._types: dict[int, tuple[Attribute, str]] = {}
        self._equal_types: dict[Attribute, str] = {}

    def type_text(self, source: Attribute) -> str:
        """The LLVM type `source`."""
        # By identity first: to hash a vector type costs more than all the rest of an instruction's text.
        known = self._types.get(id(source))
        if known is not None:
            return known[1]
        text = self._equal_types.get(source)
        if text is None:
            text = self._equal_types[source] = self._make_type(source)
        self._types[id(source)] = (source, text)
        return text

    def _make_type(self, source: Attribute) -> str:
        if isinstance(source, IntegerType):
            return f"i{source.width.data}"
        if (name := _FLOATS.get(type(source))) is not None:
            return name
        if isinstance(source, llvm.LLVMPointerType):
            return f"ptr addrspace({source.addr_space.data})" if isinstance(source.addr_space, IntAttr) else "ptr"
        if isinstance(source, VectorType):
            return f"<{source.get_shape()[0]} x {self.type_text(source.element_type)}>"
        if isinstance(source, llvm.LLVMVoidType):
            return "void"
        if isinstance(source, llvm.LLVMStructType):
            return "{" + ", ".join(self.type_text(field) for field in source.types) + "}"
        if isinstance(source, llvm.LLVMArrayType):
            return f"[{source.size.data} x {self.type_text(source.type)}]"
        raise UnsupportedError(f"{source}: not a type that LLVM IR text can have here")

    def constant_text(self, value: Attribute) -> str:
        """The constant `value`, without its type."""
        if isinstance(value, IntegerAttr):
            return _integer_text(value.value.data, value.type)
        if isinstance(value, FloatAttr):
            return float_text(value.value.data, value.type)
        if isinstance(value, DenseIntOrFPElementsAttr):
            return self._dense_text(value, "splat (", ")", "<", ">")
        raise UnsupportedError(f"{value}: not a constant that LLVM IR text can have here")

    def array_text(self, value: Attribute, element: Attribute) -> str:
        """The elements of an array constant, whose type is `[N x element]`."""
        if not isinstance(value, DenseIntOrFPElementsAttr):
            return self.constant_text(value)
        scalar = _scalar_text(value.type.element_type)
        prefix = self.type_text(element) + " "
        if value.type.element_type == IntegerType(1):
            scalar = _byte_text
        numbers: Iterable[Any] = value.get_values()
        return "[" + ", ".join(prefix + scalar(number) for number in numbers) + "]"

    def _dense_text(self, value: DenseIntOrFPElementsAttr, *brackets: str) -> str:
        element = value.type.element_type
        scalar, prefix = _scalar_text(element), self.type_text(element) + " "
        splat_open, splat_close, list_open, list_close = brackets
        numbers: list[Any] = list(value.get_values())
        texts = [scalar(number) for number in numbers]
        # Texts and not numbers are compared: 0.0 equals -0.0, and NaN equals nothing.
        if texts.count(texts[0]) == len(texts):
            return "zeroinitializer" if _is_zero(numbers[0]) else splat_open + prefix + texts[0] + splat_close
        return list_open + ", ".join(prefix + text for text in texts) + list_close


def _is_zero(number: int | float) -> bool:
    return number == 0 and str(number)[0] != "-"


def _scalar_text(element: Attribute) -> Callable[[Any], str]:
    if isinstance(element, IntegerType):
        return lambda number: _integer_text(int(number), element)
    return lambda number: float_text(float(number), element)


def _byte_text(number: Any) -> str:
    return "1" if number else "0"


def _integer_text(number: int, number_type: Attribute) -> str:
    assert isinstance(number_type, IntegerType)
    bits = number_type.width.data
    if bits == 1:
        return "true" if number else "false"
    half = 1 << (bits - 1)
    return str((number + half) % (2 * half) - half)


def float_text(number: float, number_type: Attribute) -> str:
    """A float in hexadecimal, which keeps every bit: f32 as the double of its value."""
    if isinstance(number_type, Float16Type):
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    if isinstance(number_type, BFloat16Type):
        return f"0xR{bfloat_bits(number):04X}"
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def bfloat_bits(number: float) -> int:
    """Bits of `number`, which a bf16 attribute has already rounded to what fits."""
    return struct.unpack("<I", struct.pack("<f", number))[0] >> 16
