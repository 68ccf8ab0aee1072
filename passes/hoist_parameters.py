"""Compute what depends on weights alone once, at compile time: it becomes a global with an initializer.

    cuvil_tensor.global @w : tensor<64x64xf32>
    %w = cuvil_tensor.parameter @w : tensor<64x64xf32>
    %1 = cuvil_tensor.transpose %w input_order = [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
=>
    cuvil_tensor.global @w.transpose : tensor<64x64xf32> { ... cuvil_tensor.init_yield %t : tensor<64x64xf32> }
    %1 = cuvil_tensor.parameter @w.transpose : tensor<64x64xf32>

What depends on constants alone (a causal mask made of positions) is taken too, up to `max-elements`.

Requires: cuvil_tensor in functions, also between `cuvil_fused` kernels.
Ensures: bit-identical results in the reference, which evaluates initializers by the same meaning.
Declines: values more than `growth` times as large as the weights they come from, broadcasts and reshapes (what they
read is hoisted; reading through them is free), values of unknown shape, ops inside kernels,
splats and plain positions.
Source: the initializer expressions of MLIR's `ml_program.global`; constant propagation through weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects import tensor as ct
from cuvil.instrument import statistics


@dataclass(frozen=True)
class HoistParametersPass(ModulePass):
    """Weight-only values become globals with initializers."""

    name: ClassVar[str] = "hoist-parameters"

    growth: int = 2
    max_elements: int = 1 << 22

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = {inner.sym_name.data for inner in op.ops if isinstance(inner, ct.GlobalOp)}
        hoisted = _Globals(op, names)
        for function in op.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    _hoist(block, hoisted, self.growth, self.max_elements)


_SMALL = 1 << 16
"""Elements below which a value may be larger than its weights by any factor."""


@dataclass(frozen=True)
class _Source:
    """What a value known at compile time comes from: how many elements of weights, and whether it computes."""

    weight_elements: int
    computes: bool


@dataclass
class _Globals:
    """The globals made so far; equal computations share one."""

    module: ModuleOp
    names: set[str]
    made: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """The name of the global for each computation (see `key`) and result of its last op."""
    _keys: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _known: dict[object, int] = field(default_factory=dict[object, int])
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _first_function: Operation | None = None

    def __post_init__(self) -> None:
        self._first_function = next((op for op in self.module.ops if isinstance(op, FuncOp)), None)

    def key(self, operations: Sequence[Operation]) -> int:
        """Equal for equal computations on the same weights; `operations` are in order, the last one is the result."""
        for op in operations:
            if op.results[0] in self._keys:
                continue
            operands = tuple(self._keys[operand] for operand in op.operands)
            for number, result in enumerate(op.results):
                said = (op.name, number, result.type, frozenset(op.properties.items()), operands)
                self._keys[result] = self._known.setdefault(said, len(self._known))
        return self._keys[operations[-1].results[0]]

    def name_for(self, operations: Sequence[Operation]) -> str:
        """A new symbol that says which weight it comes from and what is done last."""
        weight = next((op.symbol.string_value() for op in operations if isinstance(op, ct.ParameterOp)), "constant")
        stem = f"{weight}.{operations[-1].name.rpartition('.')[2]}"
        name = stem
        while name in self.names:
            self._counts[stem] = self._counts.get(stem, 0) + 1
            name = f"{stem}_{self._counts[stem]}"
        self.names.add(name)
        return name

    def insert(self, op: ct.GlobalOp) -> None:
        """Put a new global behind the others, before the functions."""
        block = self.module.body.block
        if self._first_function is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, self._first_function)


def _elements(value: SSAValue) -> int | None:
    if not isinstance(value.type, TensorType):
        return None
    total = 1
    for dim in value.type.get_shape():
        if dim < 0:
            return None
        total *= dim
    return total


def _source_of(op: Operation, known: dict[SSAValue, _Source]) -> _Source | None:
    """What is known of `op`'s results at compile time; None if they depend on inputs."""
    if isinstance(op, ct.ParameterOp):
        return _Source(_elements(op.result) or 0, False)
    if isinstance(op, ct.ConstantOp | ct.IotaOp):
        return _Source(0, False)
    if not isinstance(op, ct.TensorOp) or not op.operands or any(operand not in known for operand in op.operands):
        return None
    weights = sum(known[operand].weight_elements for operand in op.operands)
    computes = not isinstance(op, ct.BroadcastOp | ct.ReshapeOp) or any(known[o].computes for o in op.operands)
    if any(_elements(result) is None for result in op.results):
        return None
    return _Source(weights, computes or weights > 0)


def _is_worth_storing(op: Operation, known: dict[SSAValue, _Source], growth: int, max_elements: int) -> bool:
    """Whether the results of a candidate may become globals: they compute something and have not grown too much."""
    if not isinstance(op, ct.TensorOp) or isinstance(op, ct.ConstantOp | ct.IotaOp | ct.BroadcastOp | ct.ReshapeOp):
        return False
    for result in op.results:
        source, size = known[result], _elements(result) or 0
        most = growth * max(source.weight_elements, _SMALL) if source.weight_elements else max_elements
        if not source.computes or size > most:
            return False
    return True


def _hoist(block: Block, hoisted: _Globals, growth: int, max_elements: int) -> None:
    known: dict[SSAValue, _Source] = {}
    candidates: list[Operation] = []
    for op in _outside_kernels(block):
        source = _source_of(op, known)
        if source is not None:
            candidates.append(op)
            for result in op.results:
                known[result] = source
    # From the last to the first: what stays behind makes its operands leave the candidates in turn.
    inside = set(candidates)
    leaving: list[SSAValue] = []
    for op in reversed(candidates):
        outside = [result for result in op.results if any(use.operation not in inside for use in result.uses)]
        if not outside:
            continue
        if _is_worth_storing(op, known, growth, max_elements):
            leaving += outside
        else:
            inside.discard(op)
    for value in reversed(leaving):
        _replace(value, hoisted)
    for op in reversed(candidates):
        if op.parent is not None and all(result.first_use is None for result in op.results):
            op.parent.erase_op(op)


def _outside_kernels(block: Block) -> Iterator[Operation]:
    """The operations of a block and of the branches and loops in it, in order of their definition."""
    for op in block.ops:
        yield op
        if isinstance(op, scf.IfOp | scf.ForOp | scf.WhileOp):
            for region in op.regions:
                for inner in region.blocks:
                    yield from _outside_kernels(inner)


def _replace(value: SSAValue, hoisted: _Globals) -> None:
    """A parameter in the place of `value`, and the global that it reads if there is none for that computation yet."""
    operations = _slice_of(value)
    key = (hoisted.key(operations), operations[-1].results.index(value))  # pyright: ignore[reportArgumentType]
    assert isinstance(value.type, TensorType)
    assert isinstance(value.owner, Operation)
    if key not in hoisted.made:
        values: dict[SSAValue, SSAValue] = {}
        copies = [op.clone(values) for op in operations]
        for old, new in zip(operations, copies, strict=True):
            new.location = old.location
        name = hoisted.name_for(operations)
        made = ct.GlobalOp(name, value.type, ct.initializer_of(copies, values[value]))
        made.location = value.owner.location
        hoisted.insert(made)
        hoisted.made[key] = name
        statistics.count("hoist-parameters", "globals")
    parameter = ct.ParameterOp(hoisted.made[key], value.type)
    parameter.location = value.owner.location
    parent = value.owner.parent
    assert parent is not None
    parent.insert_op_after(parameter, value.owner)
    parameter.result.name_hint = value.name_hint
    value.replace_all_uses_with(parameter.result)


def _slice_of(value: SSAValue) -> list[Operation]:
    """The ops that `value` depends on, in an order that defines before use, its own op last."""
    order: dict[Operation, None] = {}
    stack = [value.owner]
    while stack:
        op = stack[-1]
        assert isinstance(op, Operation)
        missing = [operand.owner for operand in op.operands if operand.owner not in order]
        if op in order:
            stack.pop()
        elif missing:
            stack.extend(missing)
        else:
            order[op] = None
            stack.pop()
    return list(order)
