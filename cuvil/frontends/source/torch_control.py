"""torch's control-flow functions in functions that are read: the functions that they are given are read in turn.

| function                                | becomes                                                     |
| --------------------------------------- | ----------------------------------------------------------- |
| `torch.cond`                            | the branch that an `if` is                                  |
| `torch.while_loop`                      | the loop that a `while` is                                  |
| `scan`, `map`, `associative_scan`       | a loop over a counter, which writes rows of tensors         |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from cuvil.errors import SourceLocation, UnsupportedError
from cuvil.frontends.source.control import Clash, Outcome, State, branch, is_dynamic, truth_of
from cuvil.frontends.source.loops import loop
from cuvil.frontends.source.numbers import Number, as_number, binary
from cuvil.frontends.source.structures import containers
from cuvil.frontends.source.trace import Tracer

_FOLDER = "torch._higher_order_ops."


class Caller(Protocol):
    """What reads functions."""

    tracer: Tracer
    frames: list[dict[str, Any]]

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: SourceLocation) -> Any:
        """What a call gives."""
        ...


def control_function(function: Any) -> Callable[..., Any] | None:
    """What does the work of one of torch's control-flow functions here; None of any other function."""
    module = getattr(function, "__module__", None)
    if function is torch.cond or (isinstance(module, str) and module.startswith(_FOLDER)):
        return _FUNCTIONS.get(getattr(function, "__name__", ""))
    return None


def _cond(
    caller: Caller,
    place: SourceLocation,
    pred: Any,
    true_fn: Any,
    false_fn: Any,
    operands: Sequence[Any] = (),
) -> Any:
    then, otherwise = (
        lambda function=function: caller.call(function, tuple(operands), {}, place) for function in (true_fn, false_fn)
    )
    if not is_dynamic(pred):
        return then() if pred else otherwise()
    result = branch(caller.tracer, caller.frames, pred, then, otherwise)
    if isinstance(result, Clash):
        raise UnsupportedError(result.reason)
    return result


def _while_loop(
    caller: Caller, place: SourceLocation, cond_fn: Any, body_fn: Any, carried_inputs: Sequence[Any]
) -> Any:
    return carried_through(
        caller,
        tuple(carried_inputs),
        lambda state: caller.call(cond_fn, state, {}, place),
        lambda state: tuple(caller.call(body_fn, state, {}, place)),
    )


def carried_through(
    caller: Caller, start: tuple[Any, ...], test: Callable[[Any], Any], turn: Callable[[Any], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """The state after `turn` was done while `test` held."""
    frame: dict[str, Any] = {"what the loop carries": start}
    (name,) = frame
    caller.frames.append(frame)

    def once() -> tuple[Any, Outcome]:
        frame[name] = turn(frame[name])
        return truth_of(test(frame[name])), Outcome()

    try:
        loop(caller.tracer, caller.frames, test(start), once)
        return frame[name]
    finally:
        caller.frames.pop()


# -- over rows -------------------------------------------------------------------------------------------------------


def _scan(
    caller: Caller,
    place: SourceLocation,
    combine_fn: Any,
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> Any:
    def once(carry: Any, row: Any) -> tuple[Any, Any]:
        carry, made = caller.call(combine_fn, (carry, row), {}, place)
        return carry, made

    carry, made = _over_rows(caller, init, tree_map(lambda x: x.movedim(dim, 0), xs), once, reverse)
    return carry, tree_map(lambda stacked: stacked.movedim(0, dim), made)


def _map(caller: Caller, place: SourceLocation, f: Any, xs: Any, *args: Any) -> Any:
    return _over_rows(caller, None, xs, lambda _, row: (None, caller.call(f, (row, *args), {}, place)), False)[1]


def _associative_scan(
    caller: Caller,
    place: SourceLocation,
    combine_fn: Any,
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    def once(carry: Any, row: Any) -> tuple[Any, Any]:
        combined = caller.call(combine_fn, (carry, row), {}, place)
        return combined, combined

    moved = tree_map(lambda x: x.movedim(dim, 0), xs)
    moved = tree_map(lambda x: x.flip(0), moved) if reverse else moved
    first = tree_map(lambda x: x[0], moved)
    _, later = _over_rows(caller, first, tree_map(lambda x: x[1:], moved), once, False)
    whole = tree_map(lambda row, rest: torch.cat([row.unsqueeze(0), rest]), first, later)
    whole = tree_map(lambda x: x.flip(0), whole) if reverse else whole
    return tree_map(lambda x: x.movedim(0, dim), whole)


def _over_rows(
    caller: Caller, init: Any, xs: Any, once: Callable[[Any, Any], tuple[Any, Any]], reverse: bool
) -> tuple[Any, Any]:
    """What `once` carried through the rows of tensors, and what else it gave, stacked."""
    leaves, tree = tree_flatten(xs)
    count = leaves[0].shape[0]

    def row_at(at: Tensor) -> Any:
        return tree_unflatten([torch.index_select(x, 0, at).squeeze(0) for x in leaves], tree)

    like, made_tree = tree_flatten(tried(caller, lambda: once(init, row_at(torch.zeros(1, dtype=torch.int64)))[1]))
    blank = tuple(torch.zeros((count, *each.shape), dtype=each.dtype) for each in like)

    def turn(state: tuple[Any, ...]) -> tuple[Any, ...]:
        counter, carry, filled = state
        at = as_number(counter).tensor.reshape(1)
        at = count - 1 - at if reverse else at
        carry, made = once(carry, row_at(at))
        parts = zip(filled, tree_flatten(made)[0], strict=True)
        rows = tuple(torch.index_put(whole, (at,), part.unsqueeze(0)) for whole, part in parts)
        return Number(as_number(counter).tensor + 1), carry, rows

    _, carry, filled = carried_through(caller, (0, init, blank), lambda state: _less(state[0], count), turn)
    return carry, tree_unflatten(list(filled), made_tree)


def _less(counter: Any, count: int) -> Any:
    return binary(torch.lt, counter, count) if isinstance(counter, Number) else torch.tensor(counter < count)


def tried(caller: Caller, run: Callable[[], Any]) -> Any:
    """What something gives, run for its types alone: numbers that the running program knows are zeros."""
    tracer = caller.tracer
    before = State.of(tracer, containers(caller.frames))
    here, tracer.builder.block = tracer.builder.block, tracer.scratch()
    try:
        return tree_map(_type_of, run())
    finally:
        tracer.builder.block = here
        before.restore(tracer)


def _type_of(leaf: Any) -> Any:
    if isinstance(leaf, Number):
        return leaf.kind(0)
    return torch.empty(leaf.shape, dtype=leaf.dtype, device="meta") if isinstance(leaf, Tensor) else leaf


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "scan": _scan,
    "map": _map,
    "associative_scan": _associative_scan,
}
