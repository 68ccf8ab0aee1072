"""Statements and expressions of Python in compiled functions, one form each, against eager.

The forms are what is tested, also where another one would be shorter.
"""
# ruff: noqa: B007, B905, C416, C417, E741, F841, UP031

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

import cuvil

UP, DOWN = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([-1.0, -2.0, 0.5])
CASES: list[Callable[..., Any]] = []


def case(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a tensor; it is called with sums above and below zero."""
    CASES.append(function)
    return function


K = 3.0
G = 5


@dataclasses.dataclass
class P:
    a: Tensor
    n: int = 2

    def total(self) -> Tensor:
        return self.a.sum() * self.n


@dataclasses.dataclass(frozen=True)
class FP:
    a: Tensor
    n: int = 2


class NT(NamedTuple):
    a: Tensor
    b: int = 3


class Mode(enum.Enum):
    A = "a"
    B = "b"


@case
def match_value(x):
    mode = "relu"
    match mode:
        case "relu":
            x = x.relu()
        case "sig" | "x":
            x = x.sigmoid()
        case _:
            x = -x
    return x


@case
def match_struct(x):
    p = (1, {"k": x})
    match p:
        case (0, y):
            return y
        case (n, {"k": y, **rest}) if n > 0:
            return y * 2
    return x


@case
def match_class(x):
    p = P(x, 4)
    match p:
        case P(a=y, n=4):
            x = y * 4
        case [a, b, *c]:
            x = a
    match len(x):
        case 3 | 4 as n:
            x = x * n
    match Mode.A:
        case Mode.A:
            x = x + 1
    return x


@case
def match_tensor_case(x):
    match x.sum() > 0:
        case True:
            return x
    return x * 2


@case
def loop_else_break(x):
    for i in range(3):
        if x.sum() > 4:
            break
        x = x + 1
    else:
        x = x * 100
    return x


@case
def while_else_break(x):
    n = 0
    while x.abs().max() < 50:
        x = x * 2
        n += 1
        if x.sum() < -20:
            break
    else:
        x = x + 1000
    return x, n


@case
def try_ok(x):
    try:
        y = x + 1
    except ValueError:
        y = x
    else:
        y = y * 2
    finally:
        z = y + 1
    return y, z


@case
def try_caught(x):
    try:
        d = {}
        y = d["q"]
    except KeyError as e:
        y = x * 3
    try:
        raise ValueError("no")
    except (TypeError, ValueError) as e:
        y = y + len(str(e))
    return y


@case
def with_no_grad(x):
    with torch.no_grad():
        y = x * 2
    with torch.inference_mode(), contextlib.nullcontext(3) as k:
        y = y * k
    return y


G = 5


@case
def global_const(x):
    global G
    return x * G


@case
def sets(x):
    s = {1, 2}
    s.add(3)
    t = {i * 2 for i in s}
    return x * sum(sorted(t | s)) + len(s - {1})


@case
def comp(x):
    a = [x * i for i in range(3) if i != 1]
    b = {k: v for k, v in zip("ab", a)}
    c = sum(y.sum() for y in a)
    d = [i * j for i in range(3) for j in range(i)]
    return a, b, c, d, [*map(lambda q: q * 2, a)], list(filter(lambda i: i > 1, d))


@case
def asserts(x):
    assert x.shape[0] == 3, f"bad {x.shape} {K:.2f}"
    assert isinstance(x, Tensor)
    return x


@case
def starred(x):
    def f(a, *b, k=1, **kw):
        return a * k + sum(b) + kw.get("z", 0)

    args = (x, 1)
    kw = {"k": 3, "z": x}
    return f(*args, 2, **kw)


@case
def kwonly(x):
    def f(a, /, b, *, c=2):
        return a * b * c

    return f(x, b=2, c=4)


@case
def closures(x):
    def make(n):
        c = 0

        def inner(y):
            nonlocal c
            c += 1
            return y * n + c

        return inner

    f = make(3)
    return f(f(x)), functools.reduce(lambda a, b: a * b, [1, 2, x])


@case
def structures_(x):
    p = P(x)
    p.n += 1
    q = dataclasses.replace(p, n=7)
    f = FP(x * 2)
    t = NT(x)
    t2 = t._replace(b=9)
    return p.total(), q.a * q.n, f.a * f.n, t2.a * t2.b, dataclasses.asdict(f)["n"]


@case
def builtins_(x):
    ys = [x, x + 1]
    r = 0
    for i, (a, b) in enumerate(zip(ys, reversed(ys)), start=1):
        r = r + a * b * i
    for k in reversed(range(0, 6, 2)):
        r = r + k
    return (
        r,
        max([1, 4, 2]),
        min(3, 2),
        sorted([3, 1, 2], key=lambda v: -v),
        any(v > 0 for v in [1, 0]),
        divmod(7, 2),
        abs(-3),
        round(2.6),
        pow(2, 5),
        list(itertools.product([1, 2], [3])),
        "a,b".split(",")[0].upper(),
    )


@case
def tensor_loops(x):
    for i in range(int(x.abs().sum())):
        if i == 1:
            continue
        if i > 4:
            break
        x = x + i
    return x


@case
def tuples_carried(x):
    a, b = x, x * 2
    while a.abs().sum() < 40:
        a, b = b, a + b.abs()
    return a, b


@case
def chained(x):
    return x * 2 if 0 < x.sum() < 10 else x


@case
def walrus(x):
    while (s := x.abs().sum()) < 30:
        x = x * 2
    return x, s


@case
def sizes(x):
    y = torch.zeros(x.shape[0])
    for i in range(x.size(0)):
        y[i] = x[i] * i
    return y


@case
def scalars(x):
    n = x.sum().item()
    b = bool(x[0] > 0)
    i = int(x[0])
    f = float(x[1])
    return (
        x * n + f,
        i + 1,
        b,
        f / 2,
        x[i % 3],
        n if b else f,
        -i,
        i // 2,
        i % 3,
        math.floor(f),
        round(f),
        abs(i),
        min(i, 2),
        str(x.shape),
    )


@case
def enums(x):
    m = Mode.B
    return x if m is Mode.A else x * 2


@case
def del_(x):
    d = {"a": x, "b": 1}
    del d["b"]
    y = x
    del y
    return d


@case
def lists(x):
    l = [1, 2]
    l += [3]
    l.insert(0, x)
    l.pop()
    l.reverse()
    a = l[-1]
    l.extend((x,))
    return l, l.index(2), 2 in [1, 2], l[::2]


@case
def strings(x):
    return x if "re" in "relu" and "%d" % 3 == "3" and f"{3:>4}" == "   3" else -x


@case
def named_expr_if(x):
    if (n := len(x)) > 2 and (m := x.max()) > 1:
        return x * n + m
    return x


@case
def ternary_nested(x):
    return x if x[0] > 0 else x * 2 if x[1] > 0 else x * 3


@case
def lambda_default(x):
    fs = [lambda y, i=i: y * i for i in range(3)]
    return [f(x) for f in fs]


@case
def counters(x):
    c = collections.Counter("aab")
    d = collections.defaultdict(int)
    d["a"] += 2
    o = collections.OrderedDict(a=x)
    return x * c["a"] + d["a"], o["a"]


@case
def type_checks(x):
    return (
        x * 2
        if isinstance(x, torch.Tensor) and hasattr(x, "shape") and callable(len) and type(x) is torch.Tensor
        else x
    )


@case
def while_true_tensor(x):
    i = 0
    while True:
        i += 1
        x = x * 1.5
        if x.abs().max() > 20:
            return x, i


@case
def list_in_tensor_branch(x):
    out = []
    if x.sum() > 0:
        out.append(x)
    else:
        out.append(x * 2)
    return out


@case
def continue_nested(x):
    t = 0
    for i in range(4):
        for j in range(3):
            if x.sum() > i + j:
                continue
            if x.min() < -100:
                break
            t = t + 1
            x = x - 1
        else:
            t = t + 10
    return x, t


@case
def dict_items(x):
    d = {"a": x, "b": x * 2}
    r = 0
    for k, v in d.items():
        r = r + v * len(k)
    return {**d, "c": r} | {"z": 1}


@case
def match_of_tensors(x):
    n = int(x.sum())
    match n:
        case 6:
            y = x * 6
        case 0 | -2 as k if x[0] < 0:
            y = x - k
        case _:
            y = x
    match {"kind": x.argmax(), "x": x}:
        case {"kind": 2, "x": z}:
            return y + z
        case _:
            return y


@case
def finally_runs(x):
    log = []
    try:
        try:
            log.append(x)
            if len(log) == 1:
                raise KeyError("k")
        finally:
            log.append(x * 2)
    except LookupError:
        log.append(x * 3)
        try:
            try:
                int("z")
            except ValueError:
                raise
        except Exception as error:
            log.append(x * len(type(error).__name__))
    return log


@case
def returns_in_try(x):
    for i in range(3):
        try:
            if x.sum() > 3:
                return x * i
        finally:
            x = x + 1
    return x


@case
def loop_else_on_tensors(x):
    n = 0
    while x.abs().max() < 50:
        x = x * 2
        n += 1
        if x.sum() < -20:
            break
    else:
        x = x + 1000
    for i in range(int(n)):
        if x.sum() > 2000:
            break
        x = x + i
    else:
        n = n + 100
    return x, n


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_gives_what_eager_gives(function: Callable[..., Any], target: str) -> None:
    compiled = cuvil.compile(function, target=target)
    for x in (UP, DOWN):
        same(compiled(x.clone()), function(x.clone()))
    assert len(compiled.specializations) == 1


def same(actual: Any, expected: Any) -> None:
    """Refuse a result of another type or value than eager's."""
    assert type(actual) is type(expected)
    if isinstance(expected, Tensor):
        torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            same(actual[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            same(one, other)
    else:
        assert actual == (pytest.approx(expected, rel=1e-6) if isinstance(expected, float) else expected)
