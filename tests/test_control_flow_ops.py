"""torch.cond, while_loop, scan, map and associative_scan in models: exported, through torch.compile, natively."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

import cuvil
from cuvil.instrument.warnings import CuvilWarning
from tests.cases import Cases

NAN = float("nan")
CASES = Cases()
"""Functions of a model and arguments that take each of their ways; one compilation serves all of them."""
case = CASES.add


class Model(nn.Module):
    """A function with a layer at hand, as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 3)
        self.register_buffer("scale", torch.tensor([1.0, -2.0, 0.5]))
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


UP, DOWN = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([-1.0, -2.0, 0.5])
BROKEN = torch.tensor([1.0, NAN, 2.0])
ROWS = torch.arange(12.0).reshape(4, 3) / 10


@case((UP, DOWN), (DOWN, UP), (BROKEN, UP))
def branch_that_closes_over_weights(model, x, y):
    def up(x):
        return model.layer(x) + y, x.sum()

    def down(x):
        return x * model.scale, x.mean()

    return torch.cond(x.sum() > 0, up, down, (x,))


@case((UP,), (DOWN,), (UP / 10,))
def branches_in_branches(model, x):
    def large(x):
        return torch.cond(x.max() > 2.5, lambda x: x * 10, lambda x: model.layer(x), (x,))

    def small(x):
        return torch.cond(x.min() < 0, lambda x: -x, lambda x: x + 1, (x,))

    y = torch.cond(x.sum() > 3, large, small, (x,))
    return torch.cond(y[0] > 0, lambda y: y + x, lambda y: y - x, (y,))


@case((UP, torch.tensor(4)), (UP, torch.tensor(0)), (DOWN, torch.tensor(1)))
def loop_with_a_limit(model, x, n):
    def goes_on(i, x):
        return (i < n) & (x.abs().sum() < 1000)

    def body(i, x):
        return i + 1, model.layer(x) * 2

    return while_loop(goes_on, body, (torch.zeros((), dtype=torch.int64), x))


@case((UP,), (DOWN,))
def checks_of_all_elements_hold(model, x):
    torch._check_tensor_all(x > -100)
    return x.exp()


@case((UP,), (DOWN,))
def loop_that_carries_numbers(model, x):
    def goes_on(i, x):
        return i < 5

    def body(i, x):
        return i + 1, x * i + model.scale

    return while_loop(goes_on, body, (1, x))


@case((UP, torch.tensor(3)), (DOWN, torch.tensor(2)), (DOWN, torch.tensor(0)))
def loop_in_a_loop_with_a_branch(model, x, n):
    def inner(x):
        def body(j, x):
            return j + 1, torch.cond(x.sum() > 0, lambda x: x * 0.5, lambda x: x + 1, (x,))

        return while_loop(lambda j, x: j < 3, body, (torch.zeros((), dtype=torch.int64), x))[1]

    def outer(i, x):
        return i + 1, inner(model.layer(x))

    return while_loop(lambda i, x: i < n, outer, (torch.zeros((), dtype=torch.int64), x))


@case((UP, torch.tensor(True)), (DOWN, torch.tensor(False)))
def swapped_in_a_loop(model, x, flag):
    def body(flag, x, y, n):
        return ~flag, y.clone(), x + y, n + x.sum()

    return while_loop(lambda flag, x, y, n: n < 9, body, (flag, x.abs(), x.abs() + 1, x.abs().sum() * 0))


@case((ROWS, UP), (-ROWS, DOWN))
def recurrent_cell(model, xs, h):
    def step(h, x):
        h = torch.tanh(model.layer(h) + x)
        return h, (h * 2).sum()

    return scan(step, h, xs, dim=0)


@case((ROWS, UP), (-ROWS, DOWN))
def reversed_scan_of_trees(model, xs, h):
    def step(state, x):
        total = state["total"] + x
        return {"total": total, "count": state["count"] + 1}, (total * 2, x > 1)

    init = {"total": h.repeat(4)[:4].clone(), "count": torch.zeros((), dtype=torch.int64)}
    return scan(step, init, xs, dim=1, reverse=True)


@case((ROWS, UP), (-ROWS, DOWN))
def rows_mapped(model, xs, y):
    return map_rows(lambda x, y: (model.layer(x) * y, x.sum() > 1), xs, y)


@case((ROWS,), (-ROWS,))
def associative(model, xs):
    return associative_scan(lambda a, b: a * 0.5 + b, xs, 1, combine_mode="generic")


@case((UP, torch.tensor(2)), (DOWN, torch.tensor(0)))
def numbers_of_tensors(model, x, i):
    n, total = i.item(), x.sum().item()
    return x * n + total, (n + 1) * 2, total / 2, x[n] * 2, n > 1


@case((UP,), (DOWN,))
def vectorized(model, x):
    return torch.vmap(lambda a, b: (a * b).sin() + 1)(x, model.scale)


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_exported(function: Callable[..., Any], calls: list[tuple[Any, ...]], target: str) -> None:
    model = Model(function).eval()
    compiled = cuvil.compile(model, calls[0], target=target)
    with torch.no_grad():
        for arguments in calls:
            torch.testing.assert_close(compiled(*arguments), model(*arguments), equal_nan=True)


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_through_torch_compile(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    torch._dynamo.reset()
    model = Model(function).eval()
    compiled = torch.compile(model, backend="cuvil")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error", CuvilWarning)  # nothing is left to PyTorch
        for arguments in calls:
            torch.testing.assert_close(compiled(*arguments), model(*arguments), equal_nan=True)


def test_control_flow_is_jumps() -> None:
    model = Model(branches_in_branches).eval()
    compiled = cuvil.compile(model, (UP,))
    assert compiled.text().count("scf.if") == 4
    text = compiled.text("llvm-ir")
    host = text[text.index("define void @main") : text.index("define internal")]
    assert host.count("br i1") >= 4


class Branching(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:  # AT x.sum() > 0
            return x
        return x * 2


class Looping(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        for _ in range(int(x.sum())):  # AT int(x.sum())
            x = x + 1
        return x


class Differing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sum(), lambda x: x * 1, (x,))  # AT torch.cond


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Branching, "write the branch or loop in a function under @cuvil.compile, or with torch.cond"),
        (Looping, "Looping takes its way by the values of tensors here"),
        (Differing, "expected same dim but got 0 and 1"),
    ],
)
def test_errors_are_short_and_at_their_line(
    model: type[nn.Module], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(cuvil.CuvilError) as caught:
        cuvil.compile(model(), (UP,))
    error = caught.value
    assert error.location is not None
    with open(__file__, encoding="utf-8") as file:
        line = file.readlines()[error.location.line - 1]
    assert line[error.location.column - 1 :].startswith(line.partition("# AT ")[2].strip())
    assert message in str(error)
    assert len(str(error)) < 500
    assert capfd.readouterr().err == ""


READ = [(function, calls) for function, calls in CASES if function is not vectorized]


@pytest.mark.parametrize(("function", "calls"), READ, ids=[function.__name__ for function, _ in READ])
def test_in_functions_that_are_read(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    model = Model(function).eval()
    compiled = cuvil.compile(function)
    with torch.no_grad():
        for arguments in calls:
            torch.testing.assert_close(compiled(model, *arguments), function(model, *arguments), equal_nan=True)
    assert len(compiled.specializations) == 1


def test_transforms_are_refused_in_functions_that_are_read() -> None:
    with pytest.raises(cuvil.CuvilError, match=r"torch\.vmap of a function cannot be read"):
        cuvil.compile(vectorized)(Model(vectorized).eval(), UP)
