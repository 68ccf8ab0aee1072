"""Functions compiled from their source against eager: branches, loops, returns, structures, calls."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import cuvil
from tests.cases import Cases

NAN = float("nan")
CASES = Cases()
"""Functions and arguments that take each of their ways; all calls of one signature share one compilation."""
case = CASES.add


UP, DOWN = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([-1.0, -2.0, 0.5])
BROKEN = torch.tensor([1.0, NAN, 2.0])


@case((UP,), (DOWN,), (BROKEN,))
def example(x: Tensor, threshold: float = 0.5) -> Tensor:
    if x.mean() > threshold:
        return torch.nn.functional.relu(x)
    else:
        return torch.sigmoid(x)


@case((UP,), (DOWN,), (BROKEN,))
def elif_chain(x):
    if x.sum() > 5:
        y = x * 2
    elif x.sum() > 0 or x[0] < -10:
        y = x + 1
    elif not x.isnan().any():
        y = -x
    else:
        y = torch.zeros_like(x)
    return y - 1


@case((UP,), (DOWN,), (-UP,))
def early_returns(x):
    if x[0] > 0:
        if x[1] > 5:
            return x * 10
        x = x + 1
        if x[2] > 3:
            return x * 100
    y = x * 3
    if y.sum() < -10:
        return y
    return y + x


@case((torch.tensor(27),), (torch.tensor(1),), (torch.tensor(6),))
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps, n


@case((UP,), (UP * 1000,), (UP * 0,))
def break_and_return_in_while(x):
    total = torch.zeros(3)
    while True:
        total += x
        x = x / 2
        if x.sum() < 0.1:
            return total, x
        if total.max() > 100:
            break
    return total, -x


@case((torch.tensor(5), UP), (torch.tensor(0), UP))
def range_of_tensor(n, x):
    acc = x
    for i in range(int(n)):
        if i == 2:
            continue
        acc = acc * 1.5 + i
    return acc


@case((UP,), (DOWN,))
def break_in_unrolled_loop(x):
    for i in range(5):
        x = x * 2
        if x.sum() > 20:
            break
        if x.sum() < -20:
            return x, -1
        x = x + i
    return x, 1


@case((UP,), (DOWN,))
def python_loops(x):
    out = []
    for i, scale in enumerate((1.0, 2.0, 3.0)):
        if i == 1:
            continue
        if i > 5:
            break
        out.append(x * scale)
    else:
        out.append(x)
    n = 0
    while n < 3:
        n += 1
    return [*out, torch.stack(out).sum(0) * n]


@case((UP,), (DOWN,))
def logic(x):
    a, b = x[0] > 0, x.sum() > 2
    if (a and not b) or (b and x[1] > 1):
        x = x + 10
    if 0 < x.sum() < 100 and (len(x) == 3 or b):
        x = x * 2
    return x if a else -x


@case((UP,), (DOWN,), (BROKEN,))
def numbers(x):
    n = x.sum().item()
    k = int(x[0]) + 3
    if n > 1 and k // 2 != 7:
        n = n * 2
    return x * n + k / 4, n, k, math.sqrt(abs(float(x[0]))), max(n, 1.5) if n == n else 0.0


@case((UP, DOWN), (DOWN, UP))
def mutation_of_locals(x, y):
    z = x.clone()
    z[0] = 5.0
    z += y
    view = z[1:]
    view.mul_(2)
    if z.sum() > 0:
        z[1:] = 7
    w = z
    w -= 1
    return z, w, view


@case((UP,), (DOWN,))
def containers(x):
    state = {"x": x, "n": 0, "xs": [x, x + 1]}
    if x.sum() > 0:
        state["x"] = x * 2
        state["n"] += 1
        state["xs"][0] = -x
    a, *rest = state["xs"]
    return state, a, tuple(rest)


@dataclass
class Pair:
    left: Tensor
    right: Tensor
    scale: float = 1.0


class Named(NamedTuple):
    a: Tensor
    b: Any


@case((Pair(UP, DOWN), {"w": UP}, [DOWN]))
def structured(pair, weights, rest):
    made = Pair(pair.left * pair.scale, weights["w"] + rest[0])
    if made.left.sum() > 0:
        made.right = made.right * 2
    return made, Named(made.left, {"r": pair.right}), [p * 2 for p in rest]


def double(x: Tensor, times: int = 1) -> Tensor:
    if x.sum() < 0:
        return x
    return double(x * 2, times - 1) if times > 1 else x * 2


@case((UP,), (DOWN,))
def calls(x):
    def inner(y, *, k=2):
        nonlocal offset
        offset = offset + 1
        return y * k if y.sum() > 3 else y

    offset = 0
    twice = functools.partial(double, times=2)
    return inner(twice(x), k=3) + (lambda y: y + offset)(x)


@case((UP,), (DOWN,))
def functions_of_python(x):
    parts = sorted({"b": 2, "a": 1}.items())
    total = sum(x * value for _, value in parts)
    flags = any(v > 2 for v in x) and all([x[0] < 5, True])
    name = f"{parts[0][0]}"
    assert name == "a", "not reached"
    with torch.no_grad():
        y = torch.softmax(total, 0)
    return (y if flags else total), torch.cat([x, y]), F.layer_norm(x, (3,)), x @ y, x.to(torch.int64)


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.small = nn.Linear(3, 3)
        self.stack = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 3))
        self.scale = 2.0

    def forward(self, x: Tensor) -> Tensor:
        x = self.small(x)
        if x.mean() > 0:
            return self.stack(x) * self.scale
        return x


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Gate(), Gate()])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x) + x
        return x


torch.manual_seed(3)
MODEL = Layers().eval()


@case((UP,), (DOWN,), (torch.zeros(3),))
def model(x):
    return MODEL(x)


ATTENTION = nn.MultiheadAttention(16, 4, batch_first=True).eval()
RECURRENT = nn.LSTM(16, 8, batch_first=True).eval()


@case((torch.randn(2, 5, 16),))
def layers_with_fast_paths(x):
    y = ATTENTION(x, x, x)[0]
    z = F.scaled_dot_product_attention(y, y, y, is_causal=True)
    return RECURRENT(z)[0], F.dropout(z, 0.5, training=ATTENTION.training)


@case((UP,), (DOWN,), (UP * 0,))
def in_place_after_control_flow(x):
    acc = x * 0
    if x.sum() > 0:
        acc = acc + 1
    acc += 1
    while acc.sum() < 10:
        acc = acc + x.abs() + 1
        acc += x
    acc += 1
    shared = [acc, acc] if acc[0] > 5 else [-acc, -acc]
    return acc, shared


@case((UP,), (DOWN,))
def continue_in_while(x):
    n = 0
    while n < 6 and x.abs().sum() < 100:
        n += 1
        if x[0] < 0:
            x = -x
            continue
        x = x * 2
    return x, n


@case((torch.tensor([3, 1, 2]),), (torch.tensor([0, 5, -7]),))
def integers(x):
    best, i = x[0], 0
    while i < 3:
        if x[i] > best:
            best = x[i]
        i += 1
    return best, x[int(x[0]) % 3], x.to(torch.float16) / 3


@case((UP,), (DOWN,))
def written_by_index(x):
    out, i = torch.zeros(5, 3), 0
    while i < 5 and x.sum() < 100:
        out[i] = x
        x = x * 2 + out[i, i % 3]
        i += 1
    last = torch.zeros((), dtype=torch.int64) - 1
    out[last] = 7
    return out, i, out[last, 1:], i**2.0 if i > 0 else 0.0


@case((UP,), (DOWN,))
def structures_in_loops(x):
    state = (x, {"a": x * 2}, 0)
    while state[0].sum() < 50:
        y, held, n = state
        state = (y + held["a"].abs(), {"a": held["a"] * 1.5}, n + 1)
    rows = torch.zeros(3)
    for row in x.reshape(3, 1):
        if row > 1:
            rows += row
        else:
            rows -= row
    return state, rows


@case((UP,), (DOWN,))
def while_else(x):
    while x.abs().sum() < 10:
        x = x * 2
    else:
        x = x + 1
    return x


@case((UP, True), (DOWN, True))
def walrus_and_unpacking(x, flag):
    if flag and (total := x.sum()) > 1:
        first, (*middle, last) = x[0], [x[1], x[2]]
    else:
        first, (*middle, last) = x[2], [x[1], x[0]]
        total = x.sum() * 2
    return first, middle, last, total


@case((UP,), (DOWN,))
def nested_loops(x):
    count = 0
    while x.abs().sum() < 200:
        j = 0
        while j < 3 and x.sum() < 50:
            x = x * 1.5
            j += 1
        if x.sum() > 40:
            x = x + 30
        x = x * 1.1
        count += 1
    return x, count


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_gives_what_eager_gives(function: Callable[..., Any], calls: list[tuple[Any, ...]], target: str) -> None:
    compiled = cuvil.compile(function, target=target)
    for arguments in calls:
        check(compiled(*arguments), function(*arguments))
    assert len(compiled.specializations) == 1


def check(actual: Any, expected: Any) -> None:
    assert type(actual) is type(expected)
    if isinstance(expected, Tensor):
        torch.testing.assert_close(actual, expected, equal_nan=True)
    elif isinstance(expected, float):
        assert actual == pytest.approx(expected, rel=1e-6, nan_ok=True)
    elif isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected:
            check(actual[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            check(one, other)
    elif isinstance(expected, Pair):
        check(vars(actual), vars(expected))
    else:
        assert actual == expected


def test_both_branches_are_in_the_native_code() -> None:
    compiled = cuvil.compile(example, (UP,))
    (made,) = compiled.specializations
    assert made.compiled is not None
    assert "scf.if" in made.compiled.text()
    text = made.compiled.text("llvm-ir")
    host = text[text.index("define void @main") : text.index("define internal")]
    assert all(part in host for part in ("br i1", "call void @relu", "call void @sigmoid"))


def test_a_new_signature_compiles_again_and_says_why() -> None:
    compiled = cuvil.compile(example)
    compiled(UP)
    compiled(UP)
    compiled(torch.ones(4))
    compiled(UP, 0.1)
    compiled(UP, threshold=0.1)
    compiled(x=UP)
    text = str(cuvil.explain(compiled))
    assert "'x' is float32 [4], was float32 [3]" in text
    assert "'threshold' is 0.1, was 0.5" in text
    assert [made.signature for made in compiled.specializations] == [
        "x: float32 [3]; threshold: 0.5",
        "x: float32 [4]; threshold: 0.5",
        "x: float32 [3]; threshold: 0.1",
    ]


SCALE = 2.0


def test_values_outside_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    bias = 1.0

    def scaled(x: Tensor) -> Tensor:
        return x * SCALE + bias

    compiled = cuvil.compile(scaled)
    check(compiled(UP), UP * 2 + 1)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    check(compiled(UP), UP * 3 + 1)
    bias = 0.0
    check(compiled(UP), UP * 3)
    assert "SCALE is no longer 2.0" in str(cuvil.explain(compiled))


CONFIG = {"scale": 2.0}
WEIGHT = torch.ones(3)


def test_objects_outside_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    def weighted(x: Tensor) -> Tensor:
        return x * WEIGHT * CONFIG["scale"]

    compiled = cuvil.compile(weighted)
    check(compiled(UP), UP * 2)
    monkeypatch.setitem(CONFIG, "scale", 4.0)
    check(compiled(UP), UP * 4)
    monkeypatch.setitem(globals(), "WEIGHT", torch.full((3,), 5.0))
    check(compiled(UP), UP * 20)
    text = str(cuvil.explain(compiled))
    assert "CONFIG['scale'] is no longer 2.0" in text
    assert "WEIGHT is no longer the object that it was" in text


def test_decorator_forms() -> None:
    @cuvil.compile
    def plain(x: Tensor) -> Tensor:
        """Doc."""
        return x + 1

    @cuvil.compile(options={"threads": 1}, target="interpreter")
    def with_options(x: Tensor) -> Tensor:
        return plain(x) * 2

    class Holder:
        @cuvil.compile
        def method(self, x: Tensor) -> Tensor:
            return x * 3

    check(plain(UP), UP + 1)
    check(with_options(UP), (UP + 1) * 2)
    check(Holder().method(UP), UP * 3)
    assert (plain.__name__, plain.__doc__) == ("plain", "Doc.")


def test_strided_and_gradient_arguments() -> None:
    compiled = cuvil.compile(example)
    x = torch.arange(6.0).reshape(3, 2)[:, 1].requires_grad_()
    check(compiled(x), example(x).detach())


def test_threads_share_one_compilation() -> None:
    compiled = cuvil.compile(example)
    found: list[Tensor] = []
    threads = [threading.Thread(target=lambda: found.append(compiled(UP))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiled.specializations) == 1
    for each in found:
        check(each, example(UP))


def test_constant_of_one_element_with_an_odd_stride() -> None:
    # Contiguous to torch, for there is no second element.
    constant = torch.arange(5)[2:3].as_strided((1,), (5,))
    assert torch.equal(cuvil.compile(lambda x: x + constant)(UP), UP + 2)


def test_second_results_that_something_reads() -> None:
    # Decompositions of torch read the positions that a pool gives, if only to drop them.
    x = torch.randn(3, 8)
    assert torch.equal(cuvil.compile(lambda x: F.max_pool1d(x[None], 2))(x), F.max_pool1d(x[None], 2))


def test_convolution_without_channels() -> None:
    x, weight = torch.zeros(1, 0, 16), torch.zeros(3, 0, 2)
    assert cuvil.compile(lambda x, w: F.conv1d(x, w))(x, weight).shape == F.conv1d(x, weight).shape
