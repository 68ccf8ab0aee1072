"""Put every buffer at a fixed offset of one arena, so that running allocates nothing.

    func.func @main(%x: memref<4xf32>, %out0: memref<4xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
      %0 = cuvil_fused.alloc : memref<4xf32>
      ...
      cuvil_fused.free %0 : memref<4xf32>
      func.return
    }
    =>
    func.func @main(%x: memref<4xf32>, %out0: memref<4xf32>, %arena: memref<64xi8>)
        attributes {cuvil_fused.outputs = 1 : i64, cuvil_fused.arena_bytes = 64 : i64} {
      %0 = cuvil_fused.arena_view %arena at 0 : memref<64xi8> to memref<4xf32>
      ...
      func.return
    }

The arena is the last argument, also where it is empty, so that every planned function has the same form. Buffers whose
lifetimes overlap get disjoint places; `reuse=false` gives every buffer its own, to tell errors of planning from others.
The heuristics and their lower bound are in `cuvil/semantics/packing.py`, lifetimes in `lifetimes.py` beside it.

Requires: `bufferize`; correct lifetimes: a buffer without `free`, freed twice or used afterwards is an error.
Ensures: no `alloc` or `free` is left; no two buffers live at once overlap; offsets are multiples of `alignment`.
Declines (with an error): buffers whose size is a symbolic expression, since an offset is a number.
Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, MemRefType, ModuleOp, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects.base import int_attr
from cuvil.dialects.fused import AllocOp, ArenaViewOp, size_bytes
from cuvil.errors import PassError, UnsupportedError, UserError, VerificationError
from cuvil.instrument import remarks, statistics
from cuvil.passes.bufferize import OUTPUTS
from cuvil.semantics.lifetimes import Lifetime, lifetimes_of
from cuvil.semantics.packing import Block, Packing, lower_bound, pack, pack_apart

ARENA_BYTES = "cuvil_fused.arena_bytes"
"""The function attribute that says how large the arena is."""

_OFFSET_UNIT = 64


def is_candidate(function: func.FuncOp) -> bool:
    """Whether a function is bufferized and not yet planned."""
    return bool(function.body.blocks) and OUTPUTS in function.attributes and ARENA_BYTES not in function.attributes


def buffer_bytes(alloc: AllocOp) -> int:
    """The bytes of a buffer. Raises `UnsupportedError` if they are not known."""
    size = size_bytes(alloc.buffer.type)
    if not isinstance(size, int):
        raise UnsupportedError(
            f"{alloc.name}: {alloc.buffer.type} has {size} bytes, which only running tells: offsets in an arena are "
            "numbers; compile for fixed shapes",
            alloc,
        )
    return size


def aligned(size: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return -(-size // alignment) * alignment


def add_arena(function: func.FuncOp, arena_bytes: int) -> SSAValue:
    """Give a function one more argument, the arena."""
    block = function.body.block
    arena = block.insert_arg(MemRefType(i8, [arena_bytes]), len(block.args))
    arena.name_hint = "arena"
    outputs = function.function_type.outputs.data
    function.properties["function_type"] = FunctionType.from_lists(block.arg_types, outputs)
    if function.arg_attrs is not None:
        function.properties["arg_attrs"] = ArrayAttr([*function.arg_attrs, DictionaryAttr({})])
    function.attributes[ARENA_BYTES] = int_attr(arena_bytes)
    return arena


def place(lifetimes: Sequence[Lifetime], offsets: Sequence[int], arena: SSAValue) -> None:
    """`alloc` => `arena_view`; `free` => nothing."""
    # Many buffers share an offset, and making an attribute costs as much as making an operation.
    attributes = {offset: int_attr(offset) for offset in set(offsets)}
    for lifetime, offset in zip(lifetimes, offsets, strict=True):
        alloc = lifetime.alloc
        block = alloc.parent
        assert block is not None
        properties = {"offset_bytes": attributes[offset]}
        view = ArenaViewOp.create(
            operands=[arena], result_types=[alloc.buffer.type], properties=properties, location=alloc.location
        )
        lifetime.free.detach()
        lifetime.free.erase()
        block.insert_op_before(view, alloc)
        alloc.buffer.replace_all_uses_with(view.results[0])
        alloc.detach()
        alloc.erase()


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Buffers => views of one arena; `reuse` lets buffers share memory, `alignment` is that of each offset in bytes."""

    name = "plan-memory"

    reuse: bool = True
    alignment: int = _OFFSET_UNIT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plan every bufferized function."""
        if self.alignment <= 0 or self.alignment % _OFFSET_UNIT:
            raise UserError(
                f"{self.name}: alignment is a positive multiple of {_OFFSET_UNIT} bytes, got {self.alignment}"
            )
        for function in [each for each in op.ops if isinstance(each, func.FuncOp) and is_candidate(each)]:
            self.plan(function)

    def plan(self, function: func.FuncOp) -> None:
        """Plan one function."""
        try:
            lifetimes = lifetimes_of(function)
        except VerificationError as error:
            # What came in is broken, not what this pass made of it.
            raise PassError(self.name, error.message, error.location, error.notes) from error
        sizes = self.sizes(lifetimes)
        blocks = [Block(each.begin, each.end, sizes[each.alloc.buffer.type]) for each in lifetimes]
        packing = pack(blocks) if self.reuse else pack_apart(blocks)
        place(lifetimes, packing.offsets, add_arena(function, packing.size))
        self.report(function, blocks, packing)

    def sizes(self, lifetimes: Sequence[Lifetime]) -> dict[Attribute, int]:
        """The bytes, aligned, of each type of buffer."""
        found: dict[Attribute, int] = {}
        for lifetime in lifetimes:
            if lifetime.alloc.buffer.type not in found:
                found[lifetime.alloc.buffer.type] = aligned(buffer_bytes(lifetime.alloc), self.alignment)
        return found

    def report(self, function: func.FuncOp, blocks: Sequence[Block], packing: Packing) -> None:
        """What was achieved, for those who listen."""
        if not remarks.is_enabled() and not statistics.is_enabled():
            return
        facts = {
            "buffers": len(blocks),
            "arena-bytes": packing.size,
            "buffer-bytes": sum(block.size for block in blocks),
            "lower-bound-bytes": lower_bound(blocks),
        }
        for counter, amount in facts.items():
            statistics.count(self.name, counter, amount)
        remarks.emit("analysis", pass_name=self.name, op=function, message="arena planned", args=facts)
