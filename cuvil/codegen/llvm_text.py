"""Emit a module of the llvm dialect as LLVM IR text.

One table, op class => text. Constants and addresses are written where they are used; block arguments become phi nodes.
Intrinsics are called by their names without type suffixes and not declared: LLVM's parser does both.

The target's triple and data layout are left to whoever makes the object file; functions carry the CPU's name and
features.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from cuvil.codegen.llvm_literals import LiteralTexts
from cuvil.dialects import llvm_extra
from cuvil.errors import UnsupportedError
from cuvil.targets.cpu import CpuTarget

_PLAIN_NAME = re.compile(r"[A-Za-z$._][A-Za-z$._0-9]*")


def module_to_text(module: ModuleOp, target: CpuTarget | None = None) -> str:
    """The whole of `module`, which holds llvm-dialect operations only, as LLVM IR text.

    Without a target the text does not say for which CPU it is.

    Raises `UnsupportedError` for an operation that is not of the llvm level.
    """
    return text_of_symbols(emit_symbols(module), target)


@dataclass
class SymbolText:
    """A function or global: its text, and what it refers to."""

    name: str
    text: str
    declaration: str
    """What stands for it in another module."""
    is_internal: bool
    is_definition: bool
    references: set[str] = field(default_factory=set[str])


def emit_symbols(
    module: ModuleOp,
    rows: Mapping[type[Operation], Emit] | None = None,
    kernel_attributes: KernelAttributes | None = None,
) -> list[SymbolText]:
    """Text of every function and global of `module`, in order.

    A target adds `rows` for instructions of its own, and says by `kernel_attributes` which functions a device's host
    launches (the text of their attributes; None for others).
    """
    rows = _INSTRUCTIONS if rows is None else {**_INSTRUCTIONS, **rows}
    literals = LiteralTexts()
    symbols: list[SymbolText] = []
    for op in module.ops:
        if isinstance(op, llvm.FuncOp):
            symbols.append(_function_text(op, literals, rows, kernel_attributes))
        elif isinstance(op, llvm.GlobalOp):
            symbols.append(_global_text(op, literals))
        else:
            raise UnsupportedError(f"{op.name}: is not of the llvm level: run lower-loops-to-llvm first", op)
    return symbols


def text_of_symbols(symbols: Sequence[SymbolText], target: CpuTarget | None) -> str:
    """A module text that consists of `symbols`."""
    return "\n".join([*(symbol.text for symbol in symbols), _attributes(target), ""])


def _attributes(target: CpuTarget | None) -> str:
    if target is None:
        return "attributes #0 = { nounwind }"
    attributes = [f'"target-cpu"="{target.cpu}"', f'"target-features"="{target.features}"']
    if target.is_x86 and target.vector_bytes == 64:
        # Without this some CPUs' tuning splits 512-bit operations into two.
        attributes.append('"prefer-vector-width"="512"')
    return f"attributes #0 = {{ nounwind {' '.join(attributes)} }}"


def _symbol(name: str) -> str:
    return f"@{name}" if _PLAIN_NAME.fullmatch(name) else f'@"{name}"'


# -- globals -----------------------------------------------------------------------------------------------------------


def _global_text(op: llvm.GlobalOp, literals: LiteralTexts) -> SymbolText:
    name, kind = _symbol(op.sym_name.data), "constant" if op.constant is not None else "global"
    type_text = literals.type_text(op.global_type)
    alignment = f", align {op.alignment.value.data}" if op.alignment is not None else ""
    linkage = op.linkage.linkage.data
    if op.addr_space.value.data:
        kind = f"addrspace({op.addr_space.value.data}) {kind}"
    declaration = f"{name} = external {kind} {type_text}{alignment}"
    if op.value is None and linkage == "internal":
        return SymbolText(op.sym_name.data, f"{name} = internal {kind} {type_text} poison{alignment}", "", True, True)
    if op.value is None:
        return SymbolText(op.sym_name.data, declaration, declaration, False, False)
    if isinstance(op.global_type, llvm.LLVMArrayType):
        value = literals.array_text(op.value, op.global_type.type)
    else:
        value = literals.constant_text(op.value)
    prefix = "" if linkage == "external" else linkage + " "
    text = f"{name} = {prefix}{kind} {type_text} {value}{alignment}"
    return SymbolText(op.sym_name.data, text, declaration, linkage == "internal", True)


# -- functions ---------------------------------------------------------------------------------------------------------


def _function_text(
    op: llvm.FuncOp,
    literals: LiteralTexts,
    rows: Mapping[type[Operation], Emit],
    kernel_attributes: KernelAttributes | None,
) -> SymbolText:
    name = op.sym_name.data
    result = literals.type_text(op.function_type.output)
    types = [literals.type_text(arg_type) for arg_type in op.function_type.inputs]
    declaration = f"declare {result} {_symbol(name)}({', '.join(types)}) #0"
    if not op.body.blocks:
        return SymbolText(name, declaration, declaration, False, False)
    emitter = FunctionEmitter(literals, rows)
    emitter.number(op.body.blocks)
    attrs = [_parameter_attributes(a.data) for a in op.arg_attrs] if op.arg_attrs is not None else [""] * len(types)
    args = zip(types, attrs, op.body.blocks[0].args, strict=True)
    parameters = ", ".join(f"{type_text}{attr} {emitter.names[arg]}" for type_text, attr, arg in args)
    is_internal = op.linkage.linkage.data == "internal"
    linkage = "internal " if is_internal else ""
    own = kernel_attributes(op) if kernel_attributes is not None else None
    if own is not None:
        linkage, is_internal = "ptx_kernel ", False
    head = f"define {linkage}{result} {_symbol(name)}({parameters}) #0{own or ''} {{"
    lines = [head, *emitter.body(op.body.blocks), "}"]
    return SymbolText(name, "\n".join(lines), declaration, is_internal, True, emitter.references)


def _parameter_attributes(attrs: Any) -> str:
    text = ""
    for name in ("noalias", "nonnull", "readonly", "writeonly"):
        if f"llvm.{name}" in attrs:
            text += f" {name}"
    if "nvvm.grid_constant" in attrs:
        text += ' "nvvm.grid_constant"'
    if (by_value := attrs.get("llvm.byval")) is not None:
        text = f" byval({LiteralTexts().type_text(by_value)}){text}"
    alignment = attrs.get("llvm.align")
    return text + (f" align {alignment.value.data}" if isinstance(alignment, IntegerAttr) else "")


class FunctionEmitter:
    """Text of one function's blocks."""

    def __init__(self, literals: LiteralTexts, rows: Mapping[type[Operation], Emit]) -> None:
        self.literals = literals
        self.rows = rows
        self._fresh = 0
        self.type_text = literals.type_text
        self.names: dict[SSAValue, str] = {}
        self.labels: dict[Block, str] = {}
        self.incoming: dict[Block, list[tuple[str, Sequence[str]]]] = {}
        self.references: set[str] = set()

    def number(self, blocks: Sequence[Block]) -> None:
        """Name every value and block, and write constants out."""
        count = 0
        names = self.names
        for position, block in enumerate(blocks):
            self.labels[block] = f"b{position}"
            self.incoming[block] = []
            for arg in block.args:
                names[arg] = f"%v{count}"
                count += 1
            for op in block.ops:
                if not op.results:
                    continue
                literal = _LITERALS.get(type(op))
                if literal is not None:
                    names[op.results[0]] = literal(self, op)
                else:
                    names[op.results[0]] = f"%v{count}"
                    count += 1

    def body(self, blocks: Sequence[Block]) -> list[str]:
        """The lines of the blocks."""
        texts = {block: self._instructions(block) for block in blocks}
        lines: list[str] = []
        for position, block in enumerate(blocks):
            lines.append(f"{self.labels[block]}:")
            if position:
                lines.extend(self._phis(block))
            lines.extend(texts[block])
        return lines

    def _instructions(self, block: Block) -> list[str]:
        lines: list[str] = []
        for op in block.ops:
            op_class = type(op)
            if op_class in _LITERALS:
                continue
            emit = self.rows.get(op_class)
            if emit is None:
                raise UnsupportedError(f"{op.name}: has no text in LLVM IR", op)
            lines.append(emit(self, op))
        return lines

    def _phis(self, block: Block) -> list[str]:
        lines: list[str] = []
        for number, arg in enumerate(block.args):
            sources = ", ".join(f"[ {values[number]}, %{label} ]" for label, values in self.incoming[block])
            lines.append(f"  {self.names[arg]} = phi {self.type_text(arg.type)} {sources}")
        return lines

    def typed(self, value: SSAValue) -> str:
        """`type value`."""
        return f"{self.type_text(value.type)} {self.names[value]}"

    def fresh(self) -> str:
        """A name for a value that no op has."""
        self._fresh += 1
        return f"%t{self._fresh}"

    def symbol(self, name: str) -> str:
        """A reference to a function or a global."""
        self.references.add(name)
        return _symbol(name)

    def jump(self, source: Block, target: Block, values: Sequence[SSAValue]) -> str:
        """Note what a jump passes on; the target's label."""
        names = self.names
        self.incoming[target].append((self.labels[source], [names[value] for value in values]))
        return f"label %{self.labels[target]}"


Emit: TypeAlias = "Callable[[FunctionEmitter, Any], str]"
KernelAttributes: TypeAlias = "Callable[[llvm.FuncOp], str | None]"


# -- literals ----------------------------------------------------------------------------------------------------------


def _constant_literal(e: FunctionEmitter, op: llvm.ConstantOp) -> str:
    return e.literals.constant_text(op.value)


def _undef_literal(e: FunctionEmitter, op: llvm.UndefOp) -> str:
    return "undef"


def _zero_literal(e: FunctionEmitter, op: llvm.ZeroOp) -> str:
    return "null" if isinstance(op.res.type, llvm.LLVMPointerType) else "zeroinitializer"


def _address_literal(e: FunctionEmitter, op: llvm.AddressOfOp) -> str:
    return e.symbol(op.global_name.root_reference.data)


_LITERALS: dict[type[Operation], Emit] = {
    llvm.ConstantOp: _constant_literal,
    llvm.UndefOp: _undef_literal,
    llvm.ZeroOp: _zero_literal,
    llvm.AddressOfOp: _address_literal,
}


# -- instructions ------------------------------------------------------------------------------------------------------

_OVERFLOW_TEXTS = ("", " nsw", " nuw", " nuw nsw")


def _flags(op: Operation) -> str:
    flags = op.properties.get("fastmathFlags")
    if flags is None or not flags.data:  # pyright: ignore
        return ""
    names: list[str] = [flag.value for flag in flags.data]  # pyright: ignore
    return " fast" if len(names) == 7 else " " + " ".join(names)


def _binary(mnemonic: str) -> Emit:
    def emit(e: FunctionEmitter, op: Operation) -> str:
        names, (lhs, rhs) = e.names, op.operands
        return f"  {names[op.results[0]]} = {mnemonic} {e.type_text(lhs.type)} {names[lhs]}, {names[rhs]}"

    return emit


def _wrapping(mnemonic: str) -> Emit:
    def emit(e: FunctionEmitter, op: Operation) -> str:
        names, (lhs, rhs) = e.names, op.operands
        flags = op.properties.get("overflowFlags")
        text = _OVERFLOW_TEXTS[flags.value.data] if isinstance(flags, IntegerAttr) else ""
        return f"  {names[op.results[0]]} = {mnemonic}{text} {e.type_text(lhs.type)} {names[lhs]}, {names[rhs]}"

    return emit


def _exact(mnemonic: str) -> Emit:
    def emit(e: FunctionEmitter, op: Operation) -> str:
        names, (lhs, rhs) = e.names, op.operands
        text = " exact" if "isExact" in op.properties else ""
        return f"  {names[op.results[0]]} = {mnemonic}{text} {e.type_text(lhs.type)} {names[lhs]}, {names[rhs]}"

    return emit


def _float_binary(mnemonic: str) -> Emit:
    def emit(e: FunctionEmitter, op: Operation) -> str:
        names, (lhs, rhs) = e.names, op.operands
        return f"  {names[op.results[0]]} = {mnemonic}{_flags(op)} {e.type_text(lhs.type)} {names[lhs]}, {names[rhs]}"

    return emit


def _negate(e: FunctionEmitter, op: Operation) -> str:
    return f"  {e.names[op.results[0]]} = fneg{_flags(op)} {e.typed(op.operands[0])}"


def _cast(mnemonic: str) -> Emit:
    def emit(e: FunctionEmitter, op: Operation) -> str:
        result = op.results[0]
        return f"  {e.names[result]} = {mnemonic} {e.typed(op.operands[0])} to {e.type_text(result.type)}"

    return emit


def _intrinsic(name: str) -> Emit:
    def emit(e: FunctionEmitter, op: Operation) -> str:
        result = op.results[0]
        args = ", ".join([e.typed(operand) for operand in op.operands])
        return f"  {e.names[result]} = call{_flags(op)} {e.type_text(result.type)} @llvm.{name}({args})"

    return emit


def _call_intrinsic(e: FunctionEmitter, op: llvm.CallIntrinsicOp) -> str:
    alignment = op.attributes.get("alignment")
    texts = [e.typed(operand) for operand in op.operands]
    if isinstance(alignment, IntegerAttr):
        texts = [t.replace("ptr ", f"ptr align {alignment.value.data} ", 1) if t[:4] == "ptr " else t for t in texts]
    return _call(e, op, f"@{op.intrin.data}", texts)


def _call(e: FunctionEmitter, op: Operation, callee: str, args: Sequence[str]) -> str:
    if not op.results:
        return f"  call void {callee}({', '.join(args)})"
    result = op.results[0]
    return f"  {e.names[result]} = call{_flags(op)} {e.type_text(result.type)} {callee}({', '.join(args)})"


def _call_function(e: FunctionEmitter, op: llvm.CallOp) -> str:
    args = [e.typed(operand) for operand in op.operands]
    if op.callee is None:
        return _call(e, op, e.names[op.operands[0]], args[1:])
    return _call(e, op, e.symbol(op.callee.root_reference.data), args)


def _inline_asm(e: FunctionEmitter, op: llvm.InlineAsmOp) -> str:
    effects = " sideeffect" if op.has_side_effects is not None else ""
    callee = f"asm{effects} {_quoted(op.asm_string.data)}, {_quoted(op.constraints.data)}"
    return _call(e, op, callee, [e.typed(operand) for operand in op.operands])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A") + '"'


def _icmp(e: FunctionEmitter, op: llvm.ICmpOp) -> str:
    predicate = llvm.ALL_ICMP_FLAGS[op.predicate.value.data].value
    return f"  {e.names[op.res]} = icmp {predicate} {e.typed(op.lhs)}, {e.names[op.rhs]}"


def _fcmp(e: FunctionEmitter, op: llvm.FCmpOp | llvm_extra.FCmpOp) -> str:
    predicate = llvm.ALL_FCMP_FLAGS[op.predicate.value.data].value.lstrip("_")
    return f"  {e.names[op.res]} = fcmp{_flags(op)} {predicate} {e.typed(op.lhs)}, {e.names[op.rhs]}"


def _select(e: FunctionEmitter, op: Operation) -> str:
    condition, true, false = op.operands
    flags = _flags(op)
    return f"  {e.names[op.results[0]]} = select{flags} {e.typed(condition)}, {e.typed(true)}, {e.typed(false)}"


def _gep(e: FunctionEmitter, op: llvm.GEPOp) -> str:
    dynamic = iter(op.ssa_indices)
    indices = [
        e.typed(next(dynamic)) if number == llvm.GEP_USE_SSA_VAL else f"i32 {number}"
        for number in op.rawConstantIndices.iter_values()
    ]
    flag = " inbounds" if op.inbounds is not None else ""
    element = e.type_text(op.elem_type)
    return f"  {e.names[op.result]} = getelementptr{flag} {element}, {e.typed(op.ptr)}, {', '.join(indices)}"


def _alignment(op: Operation) -> str:
    alignment = op.properties.get("alignment")
    return f", align {alignment.value.data}" if isinstance(alignment, IntegerAttr) else ""


def _load(e: FunctionEmitter, op: llvm.LoadOp) -> str:
    result = op.dereferenced_value
    return f"  {e.names[result]} = load {e.type_text(result.type)}, {e.typed(op.ptr)}{_alignment(op)}"


def _store(e: FunctionEmitter, op: llvm.StoreOp) -> str:
    return f"  store {e.typed(op.value)}, {e.typed(op.ptr)}{_alignment(op)}"


def _alloca(e: FunctionEmitter, op: llvm.AllocaOp) -> str:
    return f"  {e.names[op.res]} = alloca {e.type_text(op.elem_type)}, {e.typed(op.size)}{_alignment(op)}"


def _extract_element(e: FunctionEmitter, op: llvm_extra.ExtractElementOp) -> str:
    return f"  {e.names[op.res]} = extractelement {e.typed(op.vector)}, {e.typed(op.index)}"


def _insert_element(e: FunctionEmitter, op: llvm.InsertElementOp) -> str:
    return f"  {e.names[op.res]} = insertelement {e.typed(op.vector)}, {e.typed(op.value)}, {e.typed(op.index)}"


def _shuffle(e: FunctionEmitter, op: llvm.ShuffleVectorOp) -> str:
    lanes = op.mask.get_values()
    if not any(lanes):
        mask = f"<{len(lanes)} x i32> zeroinitializer"
    else:
        mask = f"<{len(lanes)} x i32> <{', '.join('i32 poison' if n < 0 else f'i32 {n}' for n in lanes)}>"
    return f"  {e.names[op.res]} = shufflevector {e.typed(op.v1)}, {e.typed(op.v2)}, {mask}"


def _extract_value(e: FunctionEmitter, op: llvm.ExtractValueOp) -> str:
    path = ", ".join(str(number) for number in op.position.iter_values())
    return f"  {e.names[op.res]} = extractvalue {e.typed(op.container)}, {path}"


def _insert_value(e: FunctionEmitter, op: llvm.InsertValueOp) -> str:
    path = ", ".join(str(number) for number in op.position.iter_values())
    return f"  {e.names[op.res]} = insertvalue {e.typed(op.container)}, {e.typed(op.value)}, {path}"


# -- terminators -------------------------------------------------------------------------------------------------------


def _block(op: Operation) -> Block:
    block = op.parent
    assert block is not None
    return block


def _branch(e: FunctionEmitter, op: llvm.BrOp) -> str:
    return f"  br {e.jump(_block(op), op.successor, op.operands)}"


def _conditional_branch(e: FunctionEmitter, op: llvm.CondBrOp) -> str:
    block, condition = _block(op), e.names[op.cond]
    if op.then_block is not op.else_block:
        then = e.jump(block, op.then_block, op.then_arguments)
        return f"  br i1 {condition}, {then}, {e.jump(block, op.else_block, op.else_arguments)}"
    # A phi knows an edge by its source, so that two edges between the same blocks must carry the same values.
    lines: list[str] = []
    for position, (true, false) in enumerate(zip(op.then_arguments, op.else_arguments, strict=True)):
        chosen = f"%{e.labels[block]}.{position}"
        lines.append(f"  {chosen} = select i1 {condition}, {e.typed(true)}, {e.typed(false)}")
    e.incoming[op.then_block].append((e.labels[block], [line.split()[0] for line in lines]))
    return "\n".join([*lines, f"  br label %{e.labels[op.then_block]}"])


def _return(e: FunctionEmitter, op: llvm.ReturnOp) -> str:
    return f"  ret {e.typed(op.operands[0])}" if op.operands else "  ret void"


def _unreachable(e: FunctionEmitter, op: Operation) -> str:
    return "  unreachable"


_BINARY = {llvm.URemOp: "urem", llvm.SRemOp: "srem", llvm.AndOp: "and", llvm.XOrOp: "xor", llvm.OrOp: "or"}
_WRAPPING = {llvm.AddOp: "add", llvm.SubOp: "sub", llvm.MulOp: "mul", llvm.ShlOp: "shl"}
_EXACT = {llvm.UDivOp: "udiv", llvm.SDivOp: "sdiv", llvm.LShrOp: "lshr", llvm.AShrOp: "ashr"}
_FLOAT = {llvm.FAddOp: "fadd", llvm.FSubOp: "fsub", llvm.FMulOp: "fmul", llvm.FDivOp: "fdiv", llvm.FRemOp: "frem"}
_CASTS: dict[type[Operation], str] = {
    llvm.BitcastOp: "bitcast",
    llvm.FPExtOp: "fpext",
    llvm.FPTruncOp: "fptrunc",
    llvm.IntToPtrOp: "inttoptr",
    llvm.PtrToIntOp: "ptrtoint",
    llvm.SExtOp: "sext",
    llvm.SIToFPOp: "sitofp",
    llvm.TruncOp: "trunc",
    llvm.ZExtOp: "zext",
    llvm_extra.FPToSIOp: "fptosi",
    llvm_extra.FPToUIOp: "fptoui",
    llvm_extra.UIToFPOp: "uitofp",
}
_INTRINSICS: tuple[type[Operation], ...] = (
    llvm.FAbsOp,
    llvm.FCeilOp,
    llvm.FCopySignOp,
    llvm.FCosOp,
    llvm.FExp2Op,
    llvm.FExpOp,
    llvm.FFloorOp,
    llvm.FLog2Op,
    llvm.FLogOp,
    llvm.FMAOp,
    llvm.FPowOp,
    llvm.FSinOp,
    llvm.FSqrtOp,
    llvm.VectorFMaxOp,
    llvm.VectorFMinOp,
    llvm.VectorReduceFAddOp,
    llvm.VectorReduceFMulOp,
)

_INSTRUCTIONS: dict[type[Operation], Emit] = {
    **{op_class: _binary(name) for op_class, name in _BINARY.items()},
    **{op_class: _wrapping(name) for op_class, name in _WRAPPING.items()},
    **{op_class: _exact(name) for op_class, name in _EXACT.items()},
    **{op_class: _float_binary(name) for op_class, name in _FLOAT.items()},
    **{op_class: _cast(name) for op_class, name in _CASTS.items()},
    **{op_class: _intrinsic(op_class.name.removeprefix("llvm.intr.")) for op_class in _INTRINSICS},
    llvm.FNegOp: _negate,
    llvm.ICmpOp: _icmp,
    llvm.FCmpOp: _fcmp,
    llvm_extra.FCmpOp: _fcmp,
    llvm.SelectOp: _select,
    llvm_extra.SelectOp: _select,
    llvm.GEPOp: _gep,
    llvm.LoadOp: _load,
    llvm.StoreOp: _store,
    llvm.AllocaOp: _alloca,
    llvm.InsertElementOp: _insert_element,
    llvm_extra.ExtractElementOp: _extract_element,
    llvm.ShuffleVectorOp: _shuffle,
    llvm.ExtractValueOp: _extract_value,
    llvm.InsertValueOp: _insert_value,
    llvm.CallOp: _call_function,
    llvm.CallIntrinsicOp: _call_intrinsic,
    llvm.InlineAsmOp: _inline_asm,
    llvm.BrOp: _branch,
    llvm.CondBrOp: _conditional_branch,
    llvm.ReturnOp: _return,
    llvm.UnreachableOp: _unreachable,
}
