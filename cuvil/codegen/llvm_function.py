"""Lowering one function: its values, its blocks, and the tables of rules for its operations.

`ModuleLowering` is what the functions of one module share: symbols, parameters, declarations. `FunctionLowering`
holds the map from loop-level values to llvm values and walks the function's blocks once, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects import llvm
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, ModuleOp, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from cuvil.codegen.llvm_bfloat import is_bf16, narrow, widen
from cuvil.codegen.llvm_build import LlvmBuilder, function
from cuvil.codegen.llvm_scalar import Rule
from cuvil.codegen.llvm_types import I32, PTR
from cuvil.dialects import llvm_extra
from cuvil.errors import UnsupportedError
from cuvil.runtime.threads import NUM_THREADS
from cuvil.targets.cpu import CpuTarget


@dataclass
class ModuleLowering:
    """What is shared by the functions of one module; `lowered` collects the new module's operations."""

    target: CpuTarget
    parameters: Mapping[str, int]
    """External `memref.global`s: name => position in the entry's array of parameters."""
    needs_parameters: set[str]
    """Functions that take the array of parameters as their last argument."""
    names: set[str]
    rules: Mapping[type[Operation], Rule]
    thread_functions: dict[tuple[Attribute, ...], str] = field(default_factory=dict[tuple[Attribute, ...], str])
    """Types that a parallel loop captures => the function that runs a thread's share of it."""
    lowered: list[Operation] = field(default_factory=list[Operation])

    @cached_property
    def has_bf16_conversion(self) -> bool:
        """Whether the target rounds f32 to bf16 in one instruction (else LLVM calls a library function)."""
        features = self.target.features.split(",")
        return "+avx512bf16" in features or "+bf16" in features

    def fresh_name(self, stem: str) -> str:
        """`stem`, or `stem` with a number where it is taken."""
        name, number = stem, 0
        while name in self.names:
            number += 1
            name = f"{stem}_{number}"
        self.names.add(name)
        return name

    def declare(self, name: str, arg_types: Sequence[Attribute], result: Attribute | None) -> None:
        """Declare an external function once."""
        if name not in self.names:
            self.names.add(name)
            self.lowered.append(function(name, arg_types, result, None, is_internal=False))

    def declare_num_threads(self) -> None:
        """Define the thread count's global once; one thread until the runtime says otherwise."""
        if NUM_THREADS not in self.names:
            self.names.add(NUM_THREADS)
            self.lowered.append(llvm.GlobalOp(I32, NUM_THREADS, "external", value=IntegerAttr(1, I32)))

    def install(self, module: ModuleOp) -> None:
        """Make what was lowered the body of `module`, in place of what is there."""
        block = Block()
        for op in self.lowered:
            if op.parent is not None:
                op.detach()
            block.add_op(op)
        old = module.body.block
        module.body.insert_block(block, 0)
        module.body.erase_block(old, safe_erase=False)


class FunctionLowering:
    """One function on its way down. `set` and `value` are the map from source values to lowered ones."""

    def __init__(self, module: ModuleLowering, name: str, arg_types: Sequence[Attribute]) -> None:
        self.module = module
        self.name = name
        self.b = LlvmBuilder(arg_types)
        self.values: dict[SSAValue, SSAValue] = {}
        self.blocks: dict[Block, Block] = {}
        self.parameters: SSAValue | None = None
        self.noalias: set[SSAValue] = set()
        """Source values that are buffers of their own: nothing else in the function reaches their memory."""

    # -- values ------------------------------------------------------------------------------------------------------

    def value(self, source: SSAValue) -> SSAValue:
        """The lowered value."""
        return self.values[source]

    def operands(self, op: Operation) -> list[SSAValue]:
        """The lowered operands of a source operation."""
        return [self.values[operand] for operand in op.operands]

    def set(self, op: Operation, value: SSAValue) -> None:
        """Say what the first result of `op` became."""
        self.values[op.results[0]] = value

    def float_operands(self, op: Operation) -> list[SSAValue]:
        """The lowered operands, bf16 widened to f32: what a float operation computes with."""
        values = self.operands(op)
        if not any(is_bf16(operand.type) for operand in op.operands):
            return values
        return [widen(self, v) if is_bf16(o.type) else v for v, o in zip(values, op.operands, strict=True)]

    def set_float(self, op: Operation, value: SSAValue) -> None:
        """Say what a float operation's result became; f32 is rounded where the source op gives bf16."""
        self.set(op, narrow(self, value) if is_bf16(op.results[0].type) else value)

    # -- walking -----------------------------------------------------------------------------------------------------

    def lower_block(self, block: Block) -> None:
        """Lower every operation of a block but an scf terminator, which belongs to the rule of the op around it."""
        rules = self.module.rules
        for op in block.ops:
            rule = rules.get(type(op))
            if rule is None:
                raise UnsupportedError(f"{op.name}: has no lowering to llvm{_advice(op)}", op)
            try:
                rule(self, op)
            except UnsupportedError as error:
                if error.location is not None:
                    raise
                raise UnsupportedError(error.message, op) from error

    def lower_inner(self, block: Block) -> list[SSAValue]:
        """Lower the only block of an scf region; what its terminator yields."""
        self.lower_block(block)
        terminator = block.last_op
        return [] if terminator is None else self.operands(terminator)

    # -- pieces that rules share -------------------------------------------------------------------------------------

    def integer(self, number: int, like: Attribute) -> SSAValue:
        """The integer `number` of type `like`, in every lane where that is a vector."""
        if isinstance(like, VectorType):
            return self.b.splat(number, like.element_type, like.get_shape()[0])
        return self.b.constant(number, like)

    def extract_lane(self, vector: SSAValue, lane: SSAValue) -> SSAValue:
        """One lane of a vector."""
        vector_type = vector.type
        assert isinstance(vector_type, VectorType)
        return self.b.op(llvm_extra.ExtractElementOp, vector, lane, result=vector_type.element_type)

    def float_constant(self, number: float, constant_type: Attribute) -> Attribute:
        """The attribute of a float constant, a splat where the type is a vector."""
        if isinstance(constant_type, VectorType):
            return DenseIntOrFPElementsAttr.from_list(constant_type, [number])  # pyright: ignore
        assert isinstance(constant_type, AnyFloat)
        return FloatAttr(number, constant_type)

    def global_pointer(self, op: Operation, name: str) -> SSAValue:
        """The address of a `memref.global`."""
        position = self.module.parameters.get(name)
        if position is None:
            return self.b.address_of(name)
        if self.parameters is None:
            raise UnsupportedError(f"{op.name}: @{name} is used where the parameters are not known", op)
        slot = self.b.element_pointer(self.parameters, self.b.constant(position), PTR)
        return self.b.load(slot, PTR)


def _advice(op: Operation) -> str:
    if op.name.startswith("math."):
        return ": run lower-math first"
    if op.name.startswith(("cuvil_fused.", "cuvil_tensor.")):
        return ": run lower-fused-to-loops first"
    return ""
