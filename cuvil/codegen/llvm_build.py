"""Building llvm-dialect functions: instructions, constants, blocks.

A function opens with a prelude block that holds its constants and its stack slots, and branches to the code proper; the
text emitter writes constants in place, so that the prelude costs nothing in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from cuvil.codegen.llvm_types import I64, PTR, element_of, size_bytes
from cuvil.dialects import llvm_extra

UNIT = UnitAttr()
NO_FLAGS = llvm.FastMathAttr(None)
NO_SIGNED_WRAP = IntegerAttr(1, 32)
WRAPS = IntegerAttr(0, 32)
_MAY_WRAP = frozenset({llvm.AddOp, llvm.SubOp, llvm.MulOp, llvm.ShlOp})
"""Upstream's parser gives these flags even where the text has none: what is printed must parse back the same."""
"""`overflowFlags` of an add, sub, mul or shl that does not wrap as a signed number."""
_NO_WRAP = IntegerAttr(0, 32)
_NOT_ATOMIC = IntegerAttr(0, 64)
_DYNAMIC = DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL])
_NO_BUNDLES = DenseArrayBase.from_list(i32, ())
_ALIGNMENTS = {n: IntegerAttr(n, 64) for n in (1, 2, 4, 8, 16, 32, 64)}
_C = llvm.CallingConventionAttr("ccc")
_NO_TAIL = llvm.TailCallKindAttr(llvm.TailCallKind.NONE)


@cache
def _segments(*numbers: int) -> DenseArrayBase[IntegerType]:
    # Attributes are immutable, and making one costs as much as making an operation.
    return DenseArrayBase.from_list(i32, numbers)


@cache
def _name(name: str) -> StringAttr:
    return StringAttr(name)


class LlvmBuilder:
    """Appends llvm-dialect operations to one function's blocks."""

    region: Region
    block: Block

    def __init__(self, arg_types: Sequence[Attribute]) -> None:
        self.entry = Block(arg_types=arg_types)
        self.region = Region([self.entry])
        self._constants: dict[Any, SSAValue] = {}
        self._integers: dict[tuple[int, Attribute], SSAValue] = {}
        self._undefs: dict[Attribute, SSAValue] = {}
        self.block = Block()
        self._body = self.block
        self.region.add_block(self.block)

    def finish(self) -> Region:
        """Close the prelude; the function's body."""
        self.entry.add_op(llvm.BrOp(self._body))
        return self.region

    # -- inserting ---------------------------------------------------------------------------------------------------

    def op(
        self, op_class: type[IRDLOperation], *operands: SSAValue, result: Attribute, **properties: Attribute
    ) -> SSAValue:
        """Append an operation with one result."""
        if op_class in _MAY_WRAP:
            properties.setdefault("overflowFlags", WRAPS)
        made = op_class.create(operands=operands, result_types=(result,), properties=properties)
        self.block.add_op(made)
        return made.results[0]

    def emit(self, op: Operation) -> None:
        """Append an operation without results."""
        self.block.add_op(op)

    # -- prelude -----------------------------------------------------------------------------------------------------

    def _prelude(self, op: Operation) -> SSAValue:
        self.entry.add_op(op)
        return op.results[0]

    def constant(self, number: int, constant_type: Attribute = I64) -> SSAValue:
        """An integer constant."""
        key = (number, constant_type)
        if (known := self._integers.get(key)) is None:
            value = IntegerAttr(number, constant_type)  # pyright: ignore
            known = self._integers[key] = self.attribute_constant(value, constant_type)
        return known

    def splat(self, number: int, element: Attribute, lanes: int) -> SSAValue:
        """The integer `number` in every one of `lanes` lanes."""
        vector_type = VectorType(element, [lanes])
        return self.attribute_constant(
            DenseIntOrFPElementsAttr.from_list(vector_type, [number]),  # pyright: ignore
            vector_type,
        )

    def lane_numbers(self, element: Attribute, lanes: int) -> SSAValue:
        """0, 1, 2, ... `lanes` - 1."""
        vector_type = VectorType(element, [lanes])
        return self.attribute_constant(
            DenseIntOrFPElementsAttr.from_list(vector_type, list(range(lanes))),  # pyright: ignore
            vector_type,
        )

    def attribute_constant(self, value: Attribute, constant_type: Attribute) -> SSAValue:
        """The constant `value`, one operation for equal ones."""
        key = (value, constant_type)
        if (known := self._constants.get(key)) is None:
            made = llvm.ConstantOp.create(result_types=(constant_type,), properties={"value": value})
            known = self._constants[key] = self._prelude(made)
        return known

    def undef(self, undef_type: Attribute) -> SSAValue:
        """A value of which nothing is read."""
        if (known := self._undefs.get(undef_type)) is None:
            known = self._undefs[undef_type] = self._prelude(llvm.UndefOp(undef_type))
        return known

    def alloca(self, element: Attribute, count: int, alignment: int) -> SSAValue:
        """A stack slot of `count` elements that lives as long as the function."""
        size = self.constant(count)
        return self._prelude(llvm.AllocaOp(size, element, alignment))

    # -- memory ------------------------------------------------------------------------------------------------------

    def element_pointer(self, base: SSAValue, position: SSAValue, element: Attribute) -> SSAValue:
        """The address of element `position`: base + position * size."""
        return self.op(
            llvm.GEPOp,
            base,
            position,
            result=base.type,
            rawConstantIndices=_DYNAMIC,
            elem_type=element,
            noWrapFlags=_NO_WRAP,
        )

    def field_pointer(self, base: SSAValue, struct: llvm.LLVMStructType, number: int) -> SSAValue:
        """The address of a struct's field."""
        indices = _segments(0, number)
        return self.op(llvm.GEPOp, base, result=PTR, rawConstantIndices=indices, elem_type=struct, noWrapFlags=_NO_WRAP)

    def load(self, pointer: SSAValue, value_type: Attribute) -> SSAValue:
        """Load, aligned as the element is."""
        alignment = _ALIGNMENTS[size_bytes(element_of(value_type))]
        return self.op(llvm.LoadOp, pointer, result=value_type, ordering=_NOT_ATOMIC, alignment=alignment)

    def store(self, value: SSAValue, pointer: SSAValue) -> None:
        """Store, aligned as the element is."""
        alignment = _ALIGNMENTS[size_bytes(element_of(value.type))]
        self.emit(
            llvm.StoreOp.create(operands=(value, pointer), properties={"ordering": _NOT_ATOMIC, "alignment": alignment})
        )

    # -- calls -------------------------------------------------------------------------------------------------------

    def intrinsic(
        self,
        name: str,
        *operands: SSAValue,
        result: Attribute | None,
        flags: llvm.FastMathAttr = NO_FLAGS,
        alignment: int | None = None,
    ) -> SSAValue | None:
        """Call an LLVM intrinsic by its name without type suffixes; `alignment` is that of its pointers."""
        op = llvm.CallIntrinsicOp.create(
            operands=operands,
            result_types=() if result is None else (result,),
            properties={
                "intrin": _name(name),
                "fastmathFlags": flags,
                "op_bundle_sizes": _NO_BUNDLES,
                "operandSegmentSizes": _segments(len(operands), 0),
            },
            attributes={} if alignment is None else {"alignment": _ALIGNMENTS[alignment]},
        )
        self.block.add_op(op)
        return op.results[0] if result is not None else None

    def value_intrinsic(
        self, name: str, *operands: SSAValue, result: Attribute, flags: llvm.FastMathAttr = NO_FLAGS
    ) -> SSAValue:
        """Call an intrinsic that gives a value."""
        value = self.intrinsic(name, *operands, result=result, flags=flags)
        assert value is not None
        return value

    def call(self, name: str, operands: Sequence[SSAValue], result: Attribute | None = None) -> Sequence[SSAValue]:
        """Call a function by its symbol; its result, if it has one."""
        return self._call(operands, result, {"callee": SymbolRefAttr(name)})

    def call_pointer(self, function: SSAValue, operands: Sequence[SSAValue]) -> None:
        """Call a function by its address; it has no result."""
        self._call([function, *operands], None, {})

    def _call(
        self, operands: Sequence[SSAValue], result: Attribute | None, callee: dict[str, Attribute]
    ) -> Sequence[SSAValue]:
        op = llvm.CallOp.create(
            operands=operands,
            result_types=() if result is None else (result,),
            properties={
                **callee,
                "fastmathFlags": NO_FLAGS,
                "CConv": _C,
                "TailCallKind": _NO_TAIL,
                "op_bundle_sizes": _NO_BUNDLES,
                "operandSegmentSizes": _segments(len(operands), 0),
            },
        )
        self.block.add_op(op)
        return op.results

    def address_of(self, name: str) -> SSAValue:
        """The address of a function or a global."""
        return self.op(llvm.AddressOfOp, result=PTR, global_name=SymbolRefAttr(name))

    # -- comparing ---------------------------------------------------------------------------------------------------

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """An integer comparison; predicates as LLVM spells them."""
        number = llvm.ICmpPredicateFlag(predicate).to_int()
        op = llvm.ICmpOp(lhs, rhs, IntegerAttr(number, 64))
        self.block.add_op(op)
        return op.res

    def select(
        self, condition: SSAValue, true: SSAValue, false: SSAValue, flags: llvm.FastMathAttr = NO_FLAGS
    ) -> SSAValue:
        """A select, by lane where the condition is a vector."""
        op_class = llvm_extra.SelectOp if isinstance(condition.type, VectorType) else llvm.SelectOp
        return self.op(op_class, condition, true, false, result=true.type, fastmathFlags=flags)

    # -- control flow ------------------------------------------------------------------------------------------------

    def start(self, block: Block) -> None:
        """Append `block` to the function and go on there."""
        self.region.add_block(block)
        self.block = block

    def branch(self, target: Block, operands: Sequence[SSAValue] = ()) -> None:
        """Jump."""
        self.emit(llvm.BrOp.create(operands=operands, successors=(target,)))

    def branch_if(
        self,
        condition: SSAValue,
        then: Block,
        then_operands: Sequence[SSAValue],
        other: Block,
        other_operands: Sequence[SSAValue],
    ) -> None:
        """Jump to `then` if the condition holds, else to `other`."""
        segments = _segments(1, len(then_operands), len(other_operands))
        self.emit(
            llvm.CondBrOp.create(
                operands=(condition, *then_operands, *other_operands),
                successors=(then, other),
                properties={"operandSegmentSizes": segments},
            )
        )


def function(
    name: str,
    arg_types: Sequence[Attribute],
    result: Attribute | None,
    body: Region | None,
    *,
    is_internal: bool,
    arg_attrs: Sequence[DictionaryAttr] = (),
) -> llvm.FuncOp:
    """An llvm function; a declaration if it has no body. Arguments beyond `arg_attrs` have no attributes."""
    more = [DictionaryAttr({})] * (len(arg_types) - len(arg_attrs))
    return llvm.FuncOp(
        name,
        llvm.LLVMFunctionType(arg_types, result),
        linkage=llvm.LinkageAttr("internal" if is_internal else "external"),
        body=body,
        # As upstream's parser has them where the text says nothing.
        other_props={
            "unnamed_addr": IntegerAttr(0, 64),
            "arg_attrs": ArrayAttr([*arg_attrs, *more]) if any(each.data for each in arg_attrs) else None,
        },
    )
