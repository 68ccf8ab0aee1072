"""Control flow of exported programs: torch's higher-order ops become `scf` on tensors.

| op                                | becomes                                                                        |
| --------------------------------- | ------------------------------------------------------------------------------ |
| `cond`                            | `scf.if`, one graph in each region                                             |
| `while_loop`                      | `scf.while`; the condition is carried: computed before it, and after each turn |
| `scan`, `map`, `associative_scan` | `scf.while` over a counter: rows are gathered, results are scattered           |

Operands that the graphs read (weights that they close over among them) are values from outside of the regions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch.fx import Graph, GraphModule
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import LocationAttr, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from cuvil.dialects.tensor import ConcatOp, GatherOp, ScatterOp, shape_of
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import GraphBuilder
from cuvil.frontends.aten_types import element_type_of, shape_of_value
from cuvil.frontends.exported_numbers import as_value

Values = list[SSAValue]

_BATCHING = "torch._functorch.predispatch"


class Importer(Protocol):
    """What walks the graphs of the regions."""

    builder: GraphBuilder
    attribute: Callable[[torch.Tensor], SSAValue]

    def run(self, graph_module: GraphModule, inputs: Sequence[Any], location: LocationAttr | None = None) -> list[Any]:
        """The values of a graph's outputs."""
        ...


def has_batching(graph: Graph) -> bool:
    """Whether a graph has vmap's steps in it, as a generic associative_scan has; tracing it again resolves them."""
    return any(getattr(node.target, "__module__", "") == _BATCHING for node in graph.nodes)


def build_control(importer: Importer, name: str, arguments: Sequence[Any], results: Sequence[Any]) -> Any:
    """The results of a control-flow op called `name`, as PyTorch's (fake) `results`; NotImplemented for another op."""
    build = _OPS.get(name)
    if build is None:
        return NotImplemented
    for argument in arguments:
        if isinstance(argument, GraphModule):
            _hold_ahead(importer, argument)
    return build(importer, results, *arguments)


def _hold_ahead(importer: Importer, graph_module: GraphModule) -> None:
    """Make the weights that graphs hold known out here: one first read in a region would not be seen after it."""
    for module in graph_module.modules():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            value = operator.attrgetter(str(node.target))(module) if node.op == "get_attr" else None
            if isinstance(value, torch.Tensor):
                importer.attribute(value)


# -- the ops ---------------------------------------------------------------------------------------------------------


def _cond(
    importer: Importer,
    results: Sequence[Any],
    predicate: Any,
    then: GraphModule,
    otherwise: GraphModule,
    operands: Sequence[Any] = (),
) -> tuple[Any, ...]:
    if isinstance(predicate, bool):
        return tuple(importer.run(then if predicate else otherwise, operands))
    b = importer.builder
    scalar = _scalar_of(b, as_value(b, predicate))
    sides = [_region(b, lambda graph=graph: importer.run(graph, operands)) for graph in (then, otherwise)]
    places = [place for place, pair in enumerate(zip(sides[0][1], sides[1][1], strict=True)) if _differ(*pair)]
    types: list[list[Attribute]] = []
    for block, values in sides:
        types.append(_end(b, block, [values[place] for place in places]))
    if types[0] != types[1]:
        raise UnsupportedError("the branches of a cond give other dtypes or shapes; make them the same")
    made: list[Any] = list(sides[0][1])
    if places:
        then_region, else_region = (Region([block]) for block, _ in sides)
        op = b.emit(scf.IfOp(scalar, types[0], then_region, else_region))
        for place, value in zip(places, op.results, strict=True):
            made[place] = value
    return tuple(made)


def _differ(one: Any, other: Any) -> bool:
    """Whether a result depends on the branch that is taken."""
    return isinstance(one, SSAValue) or isinstance(other, SSAValue) or (one is not other and one != other)


def _while_loop(
    importer: Importer,
    results: Sequence[Any],
    condition: GraphModule,
    body: GraphModule,
    carried: Sequence[Any],
    additional: Sequence[Any] = (),
) -> tuple[Any, ...]:
    return tuple(
        _loop(
            importer.builder,
            carried,
            lambda values: importer.run(condition, [*values, *additional])[0],
            lambda values: importer.run(body, [*values, *additional]),
        )
    )


def _scan(
    importer: Importer,
    results: Sequence[Any],
    combine: GraphModule,
    init: Sequence[Any],
    xs: Sequence[SSAValue],
    additional: Sequence[Any] = (),
) -> tuple[Any, ...]:
    def once(carry: Values, rows: Values) -> tuple[Sequence[Any], Sequence[Any]]:
        values = importer.run(combine, [*carry, *rows, *additional])
        return values[: len(carry)], values[len(carry) :]

    return tuple(_over_rows(importer.builder, init, xs, once, _blank(importer.builder, results[len(init) :])))


def _map(
    importer: Importer,
    results: Sequence[Any],
    body: GraphModule,
    xs: Sequence[SSAValue],
    additional: Sequence[Any] = (),
) -> tuple[Any, ...]:
    def once(carry: Values, rows: Values) -> tuple[Sequence[Any], Sequence[Any]]:
        return (), importer.run(body, [*rows, *additional])

    return tuple(_over_rows(importer.builder, (), xs, once, _blank(importer.builder, results)))


def _associative_scan(
    importer: Importer,
    results: Sequence[Any],
    combine: GraphModule,
    xs: Sequence[SSAValue],
    additional: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """From the first row on, one after the other: PyTorch combines them as a tree, which associativity makes equal."""
    if shape_of(xs[0].type)[0] == 0:
        return tuple(xs)
    b = importer.builder
    first = [_row(b, x, b.constant(0, i64)) for x in xs]
    rest = [b.slice(x, 0, 1, shape_of(x.type)[0] + -1) for x in xs]

    def once(carry: Values, rows: Values) -> tuple[Sequence[Any], Sequence[Any]]:
        values = importer.run(combine, [*carry, *rows, *additional])
        return values, values

    later = _over_rows(b, first, rest, once, rest)[len(xs) :]
    return tuple(
        b.value(ConcatOp([b.reshape(row, [1, *shape_of(row.type)]), rows], 0))
        for row, rows in zip(first, later, strict=True)
    )


_OPS: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "scan": _scan,
    "map_impl": _map,
    "associative_scan": _associative_scan,
}


# -- regions and loops -----------------------------------------------------------------------------------------------


def _region(b: GraphBuilder, emit: Callable[[], Sequence[Any]]) -> tuple[Block, Sequence[Any]]:
    """A block with what is emitted in it, and its values."""
    block = Block()
    return block, _within(b, block, emit)


def _within(b: GraphBuilder, block: Block, emit: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    here, location = b.block, b.location
    b.block = block
    try:
        return emit()
    finally:
        b.block, b.location = here, location


def _end(b: GraphBuilder, block: Block, values: Sequence[Any]) -> list[Attribute]:
    """End a region with the values that it hands on; their types."""

    def emit() -> Values:
        made = [as_value(b, value) for value in values]
        b.emit(scf.YieldOp(*made))
        return made

    return [value.type for value in _within(b, block, emit)]


def _loop(
    b: GraphBuilder, carried: Sequence[Any], test: Callable[[Values], Any], turn: Callable[[Values], Sequence[Any]]
) -> Values:
    """What is carried after `turn` was done while `test` held."""
    starts = [as_value(b, value) for value in carried]
    starts = [as_value(b, test(starts)), *starts]
    types = [start.type for start in starts]
    before, body = Block(arg_types=types), Block(arg_types=types)
    extract = tensor.ExtractOp(before.args[0], [], i1)
    condition = scf.ConditionOp(extract.result, *before.args)
    for op in (extract, condition):
        op.location = b.location
    before.add_ops([extract, condition])

    def once() -> Values:
        values = [as_value(b, value) for value in turn(list(body.args[1:]))]
        return [as_value(b, test(values)), *values]

    ends = _end(b, body, _within(b, body, once))
    if ends != types:
        raise UnsupportedError("a loop changes the dtype or shape of what it carries; keep them the same")
    return list(b.emit(scf.WhileOp(starts, types, Region([before]), Region([body]))).results[1:])


def _over_rows(
    b: GraphBuilder,
    init: Sequence[Any],
    xs: Sequence[SSAValue],
    once: Callable[[Values, Values], tuple[Sequence[Any], Sequence[Any]]],
    blank: Sequence[SSAValue],
) -> Values:
    """What `once` carried through the rows of `xs`, then its other results in the rows of `blank` tensors."""
    count = b.constant(shape_of(xs[0].type)[0], i64)

    def turn(values: Values) -> Sequence[Any]:
        place, carry, filled = values[0], values[1 : len(init) + 1], values[len(init) + 1 :]
        carry, made = once(carry, [_row(b, x, place) for x in xs])
        puts = [
            b.value(ScatterOp("assign", row, as_value(b, value), [place], [0]))
            for row, value in zip(filled, made, strict=True)
        ]
        return [b.apply("add", place, 1), *carry, *puts]

    return _loop(b, [0, *init, *blank], lambda values: b.apply("lt", values[0], count), turn)[1:]


def _blank(b: GraphBuilder, like: Sequence[torch.Tensor]) -> Values:
    return [b.full(0, element_type_of(each.dtype), shape_of_value(each)) for each in like]


def _row(b: GraphBuilder, x: SSAValue, place: SSAValue) -> SSAValue:
    return b.value(GatherOp(x, [place], [0]))


def _scalar_of(b: GraphBuilder, value: SSAValue) -> SSAValue:
    """The truth of a tensor of one element, to branch on."""
    value = b.condition(b.reshape(value, []))
    return b.emit(tensor.ExtractOp(value, [], i1)).results[0]
