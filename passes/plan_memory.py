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

Buffers of symbolic sizes share slots, whose places the host program computes; the arena is `memref<?xi8>` then, and
the attribute names a function that gives its size: see `passes/_symbolic_arena.py`.

Requires: `bufferize`; correct lifetimes: a buffer without `free`, freed twice or used afterwards is an error.
Ensures: no `alloc` or `free` is left; no two buffers live at once overlap; offsets are multiples of `alignment`.
Declines: declarations, and functions that are not bufferized or have an arena already; they stay as they are.
Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i8,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects.base import int_attr
from cuvil.dialects.fused import ArenaViewOp, size_bytes
from cuvil.dialects.tensor import environment_of
from cuvil.dialects.tensor_symbols import SYMBOLS
from cuvil.errors import PassError, UserError, VerificationError
from cuvil.instrument import remarks, statistics
from cuvil.passes._symbolic_arena import Buffer, Offsets, SymbolicArena, lay_out, size_function
from cuvil.passes.bufferize import OUTPUTS
from cuvil.semantics.dims import Dim, DimExpr
from cuvil.semantics.lifetimes import Lifetime, lifetimes_of
from cuvil.semantics.packing import Block as Interval
from cuvil.semantics.packing import lower_bound, pack, pack_apart

ARENA_BYTES = "cuvil_fused.arena_bytes"
"""The function attribute that says how large the arena is: a number, or the function that computes it."""

_OFFSET_UNIT = 64


def is_candidate(function: func.FuncOp) -> bool:
    """Whether a function is bufferized and not yet planned."""
    return bool(function.body.blocks) and OUTPUTS in function.attributes and ARENA_BYTES not in function.attributes


def aligned(size: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return -(-size // alignment) * alignment


def add_arena(function: func.FuncOp, arena_bytes: int | None) -> SSAValue:
    """Give a function one more argument, the arena; without a number its size is not known."""
    block = function.body.block
    arena = block.insert_arg(MemRefType(i8, [DYNAMIC_INDEX if arena_bytes is None else arena_bytes]), len(block.args))
    arena.name_hint = "arena"
    outputs = function.function_type.outputs.data
    function.properties["function_type"] = FunctionType.from_lists(block.arg_types, outputs)
    if function.arg_attrs is not None:
        function.properties["arg_attrs"] = ArrayAttr([*function.arg_attrs, DictionaryAttr({})])
    if arena_bytes is not None:
        function.attributes[ARENA_BYTES] = int_attr(arena_bytes)
    return arena


def place(lifetimes: Sequence[Lifetime], offsets: Sequence[int], arena: SSAValue) -> None:
    """`alloc` => `arena_view`; `free` => nothing."""
    # Many buffers share an offset, and making an attribute costs as much as making an operation.
    attributes = {offset: int_attr(offset) for offset in set(offsets)}
    for lifetime, offset in zip(lifetimes, offsets, strict=True):
        _put(lifetime, arena, attributes[offset], None)


def place_symbolic(lifetimes: Sequence[Lifetime], plan: SymbolicArena, arena: SSAValue) -> None:
    """`alloc` => `arena_view` at a place that the front of the function computes; `free` => nothing."""
    offsets = Offsets(plan)
    for lifetime, begin in zip(lifetimes, plan.places, strict=True):
        _put(lifetime, arena, int_attr(begin.known), offsets.value(begin))
    block = arena.owner
    assert isinstance(block, Block)
    assert block.first_op is not None
    block.insert_ops_before(offsets.operations, block.first_op)


def _put(lifetime: Lifetime, arena: SSAValue, offset_bytes: Attribute, offset: SSAValue | None) -> None:
    alloc = lifetime.alloc
    block = alloc.parent
    assert block is not None
    view = ArenaViewOp.create(
        operands=[arena] if offset is None else [arena, offset],
        result_types=[alloc.buffer.type],
        properties={"offset_bytes": offset_bytes},
        location=alloc.location,
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
        known = [each for each in lifetimes if isinstance(sizes[each.alloc.buffer.type], int)]
        blocks = [Interval(each.begin, each.end, _number(sizes[each.alloc.buffer.type])) for each in known]
        packing = pack(blocks) if self.reuse else pack_apart(blocks)
        facts = {
            "buffers": len(lifetimes),
            "arena-bytes": packing.size,
            "buffer-bytes": sum(block.size for block in blocks),
            "lower-bound-bytes": lower_bound(blocks),
        }
        if len(known) == len(lifetimes):
            place(lifetimes, packing.offsets, add_arena(function, packing.size))
        else:
            facts = self.plan_symbolic(function, lifetimes, sizes, packing.size)
            place(known, packing.offsets, function.body.block.args[-1])
        self.report(function, facts)

    def plan_symbolic(
        self, function: func.FuncOp, lifetimes: Sequence[Lifetime], sizes: dict[Attribute, Dim], first: int
    ) -> dict[str, int]:
        """Plan the buffers of symbolic sizes behind the `first` bytes, which the others take."""
        waiting = [each for each in lifetimes if isinstance(sizes[each.alloc.buffer.type], DimExpr)]
        plan = lay_out(
            [
                Buffer(each.begin, each.end, size)
                for each in waiting
                if isinstance(size := sizes[each.alloc.buffer.type], DimExpr)
            ],
            environment_of(function),
            first=first,
            alignment=self.alignment,
            reuse=self.reuse,
        )
        name = self.name_of_size(function)
        said = {SYMBOLS: function.attributes[SYMBOLS]} if SYMBOLS in function.attributes else {}
        block = function.parent
        assert block is not None
        block.insert_op_after(size_function(name, plan, said), function)
        place_symbolic(waiting, plan, add_arena(function, None))
        function.attributes[ARENA_BYTES] = SymbolRefAttr(name)
        return {"buffers": len(lifetimes), "slots": plan.slot_count, "known-arena-bytes": first}

    def name_of_size(self, function: func.FuncOp) -> str:
        """A free name for the function that gives the arena's size."""
        module = function.parent
        assert module is not None
        taken = {str(found.data) for op in module.ops if isinstance(found := op.properties.get("sym_name"), StringAttr)}
        stem = name = f"{function.sym_name.data}_arena_bytes"
        number = 0
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        return name

    def sizes(self, lifetimes: Sequence[Lifetime]) -> dict[Attribute, Dim]:
        """The bytes of each type of buffer, aligned where they are known."""
        found: dict[Attribute, Dim] = {}
        for lifetime in lifetimes:
            declared = lifetime.alloc.buffer.type
            if declared not in found:
                size = size_bytes(declared)
                found[declared] = aligned(size, self.alignment) if isinstance(size, int) else size
        return found

    def report(self, function: func.FuncOp, facts: dict[str, int]) -> None:
        """What was achieved, for those who listen."""
        if not remarks.is_enabled() and not statistics.is_enabled():
            return
        for counter, amount in facts.items():
            statistics.count(self.name, counter, amount)
        remarks.emit("analysis", pass_name=self.name, op=function, message="arena planned", args=facts)


def _number(size: Dim) -> int:
    assert isinstance(size, int)
    return size
