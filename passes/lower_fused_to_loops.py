"""Turn kernels into functions of loops, and the host program into calls on flat buffers.

    cuvil_fused.kernel @k(%a = %x) into(%o) ...       =>  func.func private @k(%a: memref<32xf32>, %o: memref<32xf32>)
      { loops }
                                                          and   func.call @k(%x, %o)
    %w = cuvil_fused.parameter @w : memref<4x8xf32>   =>  %w = memref.get_global @w : memref<32xf32>
    cuvil_tensor.global @w : tensor<4x8xf32>          =>  memref.global "private" @w : memref<32xf32> = uninitialized
    %b = cuvil_fused.arena_view %arena at 64          =>  %b = memref.view %arena[%c64][] : memref<Nxi8> to
      memref<32xf32>
    cuvil_fused.copy %a, %b                           =>  memref.copy %a, %b
    memref.load %m[] : memref<i1>                     =>  memref.load %m[%c0] : memref<1xi1>
    cuvil_tensor.size "2*s0" : index                  =>  arith on %s0, a new last argument of the function

Buffers of symbolic sizes are `memref<?x..>`. Functions take the symbols that `cuvil_tensor.symbols` lists (without it,
those of their arguments' types by name) as `index` arguments behind all others, kernels those that they are about.

Requires: destination style with planned memory (`bufferize`, `plan-memory`), packed weights (`pack-weights`).
Ensures: the loop level, see `cuvil.codegen.loops`; kernels that are equal but for names share one function; a
destination that no operand shares is `llvm.noalias`. Initializers of globals are gone: whoever binds weights has
evaluated them before.
Declines: a kernel whose emitter needs numbers where it has symbolic dims, with an error that names the op. Options:
`target` (host, x86-64-v3, ...) and `threads` to cut for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.codegen.anchored_kernels import emit_anchored_kernel
from cuvil.codegen.callbacks import declare, symbol_of
from cuvil.codegen.llvm_host import INPUTS
from cuvil.codegen.llvm_parallel import NOALIAS
from cuvil.codegen.loop_kernel import LoopKernel
from cuvil.codegen.loop_kernels import emit_loop_kernel
from cuvil.codegen.loops import LoopBuilder
from cuvil.codegen.ordering_kernels import emit_ordering_kernel
from cuvil.codegen.scalar_lowering import storage_type
from cuvil.dialects import fused
from cuvil.dialects import tensor as ct
from cuvil.dialects.tensor_symbols import SYMBOLS
from cuvil.errors import CuvilError, UserError
from cuvil.instrument import statistics
from cuvil.semantics.dims import Dim, DimExpr, ShapeEnvironment, SymbolRange, product, symbols_in
from cuvil.semantics.signatures import (
    ARENA_BYTES,
    OUTPUTS,
    Host,
    arena_function,
    input_types,
    number_attribute,
    output_types,
)
from cuvil.semantics.views import contiguous_strides
from cuvil.targets.cpu import CpuTarget

_EMITTERS = {"loop": emit_loop_kernel, "ordering": emit_ordering_kernel}


@dataclass(frozen=True)
class LowerFusedToLoopsPass(ModulePass):
    """Kernels to loops for `target`, cut for `threads` threads (0: as many as the runtime would use)."""

    name: ClassVar[str] = "lower-fused-to-loops"
    tolerance: ClassVar[float] = 1e-5

    target: str = "host"
    threads: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from cuvil.runtime.threads import thread_count

        try:
            target = CpuTarget.named(self.target)
        except ValueError as error:
            raise UserError(f"lower-fused-to-loops: {error}") from error
        lowering = HostLowering(op, target, self.threads or thread_count())
        for inner in list(op.ops):
            if isinstance(inner, ct.GlobalOp):
                lowering.lower_global(inner)
            elif isinstance(inner, func.FuncOp) and not inner.is_declaration:
                lowering.lower_function(inner)
        lowering.attach_host()


def flat_type(value_type: Attribute) -> Attribute:
    """The flat buffer type of a memref or tensor type; other types, and the arena's, are themselves."""
    if not isinstance(value_type, MemRefType | TensorType) or is_open(value_type):
        return value_type
    size = product(ct.shape_of(value_type))
    return MemRefType(storage_type(value_type.element_type), [size if isinstance(size, int) else DYNAMIC_INDEX])


def is_open(value_type: MemRefType | TensorType) -> bool:
    """Whether it is `memref<?x..>`, a flat buffer whose size has no name."""
    return (
        isinstance(value_type, MemRefType)
        and value_type.get_shape() == (DYNAMIC_INDEX,)
        and not isinstance(value_type.memory_space, ct.DimsAttr)
    )


def symbols_of_kernel(kernel: fused.KernelOp) -> list[str]:
    """The symbols that the code of a kernel may need, by name: those of its types and sizes."""
    # Of the operands' own types some are flat already.
    dims: list[Dim] = []
    values: list[SSAValue] = [*kernel.body.block.args]
    for op in kernel.body.block.ops:
        values += op.results
        if isinstance(op, ct.SizeOp):
            dims.append(op.value)
    for value in values:
        if isinstance(value.type, MemRefType | TensorType):
            dims += ct.shape_of(value.type)
    return sorted(symbols_in(dims))


@dataclass
class HostLowering:
    """The host program's way down, with its kernels: what calls them, and where buffers lie."""

    module: ModuleOp
    target: CpuTarget
    threads: int
    kernels: dict[object, str] = field(default_factory=dict[object, str])
    symbols: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """The symbols' values in the function that is being lowered."""
    environment: ShapeEnvironment = field(default_factory=ShapeEnvironment)
    names: set[str] = field(default_factory=set[str])
    hosts: list[Host] = field(default_factory=list[Host])
    parameters: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    pass_name: ClassVar[str] = "lower-fused-to-loops"

    def lower_global(self, op: ct.GlobalOp) -> None:
        made = memref.GlobalOp.get(op.sym_name, flat_type(op.value_type), UnitAttr(), StringAttr("private"))
        self.parameters[op.sym_name.data] = op.value_type
        self.module.body.block.insert_op_before(made, op)
        op.detach()
        op.erase()

    # -- the host program --------------------------------------------------------------------------------------------

    def lower_function(self, function: func.FuncOp) -> None:
        self.names.add(function.sym_name.data)
        if len(function.body.blocks) != 1:
            raise UserError("the function has several blocks; write its control flow with scf", function)
        block = function.body.block
        names = self._name_symbols(function)
        self._note_host(function)
        self._take_symbols(function, names)
        ops = [op for op in function.walk() if op is not function]
        # Copies first: buffers that are flat already do not tell how much of them is meant.
        for op in sorted(ops, key=lambda op: not isinstance(op, fused.CopyOp)):
            self._lower_op(op)
        for value in [
            *block.args,
            *(a for op in function.walk() for r in op.regions for bl in r.blocks for a in bl.args),
        ]:
            _retype(value)
        inputs = [value.type for value in block.args]
        function.function_type = FunctionType.from_lists(inputs, function.function_type.outputs.data)

    def _name_symbols(self, function: func.FuncOp) -> list[str]:
        """The function's symbols in order; a function that does not list them from here on does."""
        if not ct.symbols_of(function):
            types = [argument for argument in function.function_type.inputs if isinstance(argument, MemRefType)]
            names = symbols_in(dim for each in types if not is_open(each) for dim in ct.shape_of(each))
            if names:
                listed = ct.symbols_attribute({name: SymbolRange() for name in sorted(names)})
                for other in self.module.ops:
                    if isinstance(other, func.FuncOp) and other.sym_name.data == arena_function(function):
                        other.attributes[SYMBOLS] = listed
                function.attributes[SYMBOLS] = listed
        self.environment = ct.environment_of(function)
        return list(self.environment.ranges)

    def _take_symbols(self, function: func.FuncOp, names: Sequence[str]) -> None:
        """Give the function an argument for each symbol."""
        block = function.body.block
        self.symbols = {name: block.insert_arg(IndexType(), len(block.args)) for name in names}
        for name, argument in self.symbols.items():
            argument.name_hint = name
        if names and function.arg_attrs is not None:
            function.arg_attrs = ArrayAttr([*function.arg_attrs, *([DictionaryAttr({})] * len(names))])

    def _builder(self) -> LoopBuilder:
        """For operations of the host program, to be taken by `_taken`."""
        return LoopBuilder(Block(), self.symbols, self.environment)

    def _note_host(self, function: func.FuncOp) -> None:
        """Keep what flat buffers do not tell, to be written down once the globals are in their final order."""
        if OUTPUTS not in function.attributes:
            return
        inputs, outputs = tuple(input_types(function)), tuple(output_types(function))
        function.attributes.setdefault(INPUTS, IntegerAttr(len(inputs), 64))
        arena_bytes = None if arena_function(function) else number_attribute(function, ARENA_BYTES) or 0
        symbols = ct.symbols_of(function)
        self.hosts.append(Host(function.sym_name.data, inputs, outputs, arena_bytes, (), (), symbols))

    def attach_host(self) -> None:
        """Say of the module which function is its host and what it takes, if there is one such function."""
        if len(self.hosts) == 1:
            names, types = tuple(self.parameters), tuple(self.parameters.values())
            replace(self.hosts[0], parameters=names, parameter_types=types).attach(self.module)

    def _lower_op(self, op: Operation) -> None:
        block = op.parent
        if block is None:
            return
        match op:
            case fused.KernelOp():
                self._call(op, block)
            case fused.ParameterOp():
                made = memref.GetGlobalOp(op.symbol.string_value(), flat_type(op.buffer.type))  # pyright: ignore
                self._replace(op, [made])
            case fused.ArenaViewOp():
                b = self._builder()
                offset = b.index(b.add(op.offset_bytes.value.data, op.offset or 0))
                flat = flat_type(op.buffer.type)
                made = memref.ViewOp.build(operands=[op.arena, offset, _open_sizes(b, op.buffer)], result_types=[flat])
                self._replace(op, [*self._taken(b), made])
            case fused.CopyOp():
                self._copy(op)
            case ct.SizeOp():
                b = self._builder()
                # In this order: what nothing uses yet is not taken.
                op.result.replace_all_uses_with(b.index(op.value))
                block.insert_ops_before(self._taken(b), op)
                block.erase_op(op)
            case memref.LoadOp() | memref.StoreOp():
                self._flatten_access(op, block)
            case fused.AllocOp() | fused.FreeOp():
                raise UserError(f"{op.name}: memory is not planned yet; run plan-memory before {self.pass_name}", op)
            case ct.TensorOp() | ct.ParameterOp():
                raise UserError(f"{op.name}: is outside of a kernel; run fuse and bufferize before", op)
            case _:
                pass

    def _copy(self, op: fused.CopyOp) -> None:
        b = self._builder()
        if not (sizes := _open_sizes(b, op.source)):
            self._replace(op, [memref.CopyOp(op.source, op.target)])
            return
        # Flat buffers do not tell their sizes below: the copy's source says how much of it is meant.
        whole = memref.ReinterpretCastOp.from_dynamic(op.source, [0], sizes, [1], flat_type(op.source.type))
        self._replace(op, [*self._taken(b), whole, memref.CopyOp(whole.result, op.target)])

    def _taken(self, b: LoopBuilder) -> list[Operation]:
        b.finish()
        made = list(b.block.ops)
        for op in made:
            op.detach()
        return made

    def _replace(self, op: Operation, new: Sequence[Operation]) -> None:
        block = op.parent
        assert block is not None
        for made in new:
            made.location = op.location
        block.insert_ops_before(list(new), op)
        for old, result in zip(op.results, new[-1].results, strict=True):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)
        block.erase_op(op)

    def _flatten_access(self, op: memref.LoadOp | memref.StoreOp, block: Block) -> None:
        memref_type = op.memref.type
        assert isinstance(memref_type, MemRefType)
        if len(memref_type.get_shape()) == 1:
            return
        shape = ct.shape_of(memref_type)
        b = self._builder()
        position = b.index(b.linear(0, list(op.indices), contiguous_strides(shape)))
        block.insert_ops_before(self._taken(b), op)
        if isinstance(op, memref.LoadOp):
            made: Operation = memref.LoadOp.create(
                operands=(op.memref, position), result_types=[storage_type(memref_type.element_type)]
            )
        else:
            made = memref.StoreOp.create(operands=(op.value, op.memref, position))
        self._replace(op, [made])

    # -- kernels -----------------------------------------------------------------------------------------------------

    def _call(self, op: fused.KernelOp, block: Block) -> None:
        key, symbols, environment = self.identity(op)
        if key not in self.kernels and op.family.data == "callback":
            self.kernels[key] = self._declare(op, symbols)
        elif key not in self.kernels:
            self.kernels[key] = self._emit(op, symbols, environment)
            statistics.count("lower-fused-to-loops", "kernel-functions")
        statistics.count("lower-fused-to-loops", "kernel-calls")
        values = [self.symbols[name] for name in symbols]
        call = func.CallOp(self.kernels[key], [*op.inputs, *op.into, *values], [])
        call.location = op.location
        block.insert_op_before(call, op)
        block.erase_op(op)

    def identity(self, op: fused.KernelOp) -> tuple[object, list[str], ShapeEnvironment]:
        """What is equal for kernels that can share their code; the symbols that it takes, and what is known of them."""
        if not op.is_destination_style:
            raise UserError(f"{op.name}: is not in destination style; run bufferize before {self.pass_name}", op)
        symbols = symbols_of_kernel(op)
        missing = [name for name in symbols if name not in self.symbols]
        if missing:
            raise UserError(f"{op.name}: symbol {missing[0]} is none of the function's; list it in its symbols", op)
        ranges = {name: self.environment.ranges[name] for name in symbols if name in self.environment.ranges}
        return (structural_key(op), tuple(ranges.items())), symbols, ShapeEnvironment(ranges)

    def unused_name(self, wanted: str) -> str:
        """A name for a kernel's code, taken from now on."""
        name, number = wanted, 0
        while name in self.names:
            number += 1
            name = f"{wanted}_{number}"
        self.names.add(name)
        return name

    def _emit(self, op: fused.KernelOp, symbols: Sequence[str], environment: ShapeEnvironment) -> str:
        name = self.unused_name(op.kernel_name.data)
        try:
            types = [flat_type(value.type) for value in (*op.inputs, *op.into)]
            function = func.FuncOp(name, ([*types, *[IndexType()] * len(symbols)], []), visibility="private")
            function.arg_attrs = _promises(op, len(symbols))
            self._fill(op, function, symbols, environment)
        except CuvilError as error:
            raise UserError(f"kernel @{op.kernel_name.data}: {error}", op) from error
        function.location = op.location
        self.module.body.block.add_op(function)
        return name

    def _declare(self, op: fused.KernelOp, symbols: Sequence[str]) -> str:
        """The function without a body that a call-back's kernel is."""
        custom = next((inner for inner in op.body.block.ops if isinstance(inner, ct.CustomOp)), None)
        given = list(op.body.block.args)
        if custom is None or list(op.yielded) != list(custom.outputs) or list(custom.inputs) != given:
            raise UserError(f"kernel @{op.kernel_name.data}: a call-back's kernel is one custom op on its inputs", op)
        name = symbol_of(custom, len(self.kernels))
        types = [flat_type(value.type) for value in (*op.inputs, *op.into)]
        declaration = func.FuncOp.external(name, [*types, *[IndexType()] * len(symbols)], [])
        declaration.location = op.location
        self.names.add(name)
        self.module.body.block.add_op(declaration)
        declare(self.module, name, custom, symbols)
        return name

    def _fill(
        self, op: fused.KernelOp, function: func.FuncOp, symbols: Sequence[str], environment: ShapeEnvironment
    ) -> None:
        count, end = len(op.inputs), len(op.inputs) + len(op.into)
        arguments = function.body.block.args
        buffers: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, arguments[:count], strict=True))
        for argument, buffer in zip(op.body.block.args, arguments[:count], strict=True):
            buffer.name_hint = argument.name_hint
        operations = [inner for inner in op.body.block.ops if not isinstance(inner, fused.YieldOp)]
        results = list(zip(op.yielded, arguments[count:end], strict=True))
        kernel = LoopKernel(operations, results, buffers, self.target, self.threads)
        b = LoopBuilder(function.body.block, dict(zip(symbols, arguments[end:], strict=True)), environment)
        for name, argument in b.symbols.items():
            argument.name_hint = name
        _EMITTERS.get(op.family.data, emit_anchored_kernel)(b, kernel)
        b.finish()
        b.block.add_op(func.ReturnOp())


def _open_sizes(b: LoopBuilder, buffer: SSAValue) -> list[SSAValue]:
    """The size of a buffer's flat type, where that leaves it open."""
    assert isinstance(buffer.type, MemRefType)
    if is_open(buffer.type):
        return []
    size = product(ct.shape_of(buffer.type))
    return [b.index(size)] if isinstance(size, DimExpr) else []


def _promises(kernel: fused.KernelOp, symbols: int) -> ArrayAttr[DictionaryAttr] | None:
    """`llvm.noalias` for the destinations that no call of the kernel can have in common with an operand.

    Only a kernel of the loop family may work in place, and only over an operand of the same type that it streams.
    """
    streamed: set[Attribute] = set()
    if kernel.family.data == "loop":
        patterns = None if kernel.access is None else kernel.access.patterns.data
        streamed = {
            value.type
            for number, value in enumerate(kernel.inputs)
            if patterns is None or patterns[number].data == "streaming"
        }
    apart = [value.type not in streamed for value in kernel.into]
    if not any(apart):
        return None
    promise, nothing = DictionaryAttr({NOALIAS: UnitAttr()}), DictionaryAttr({})
    promises = [promise if alone else nothing for alone in apart]
    return ArrayAttr([nothing] * len(kernel.inputs) + promises + [nothing] * symbols)


def _retype(value: SSAValue) -> None:
    """Make a buffer argument flat."""
    if isinstance(value.type, MemRefType):
        value._type = flat_type(value.type)  # pyright: ignore[reportPrivateUsage]


def structural_key(kernel: fused.KernelOp) -> object:
    """Equal for kernels that compute the same from the same types, whatever their names."""
    numbers: dict[SSAValue, int] = {}
    for argument in kernel.body.block.args:
        numbers[argument] = len(numbers)
    parts: list[object] = [
        kernel.family,
        kernel.schedule,
        kernel.access,
        *(value.type for value in (*kernel.inputs, *kernel.into)),
        # The operands' types may be flat already: 4x8 and 2x16 are both 32 then.
        *(argument.type for argument in kernel.body.block.args),
    ]
    for op in kernel.body.block.ops:
        operands = tuple(numbers[operand] for operand in op.operands)
        parts.append((op.name, operands, tuple(op.properties.items()), tuple(result.type for result in op.results)))
        for result in op.results:
            numbers[result] = len(numbers)
    return tuple(parts)
