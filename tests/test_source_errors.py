"""What the front end from source cannot read: an error at the line and column of the user's source, with the remedy."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import cuvil
from cuvil.arguments import ArgumentError
from cuvil.errors import UnsupportedError
from cuvil.frontends.source import reader

X = torch.tensor([1.0, 2.0, 3.0])
CACHE: list[Tensor] = []
NAMES: set[str] = set()
COUNT = 0


def shapes_differ(x):
    y = torch.cat([x, x]) if x.sum() > 0 else x  # AT torch.cat: both of the same dtype and shape
    return y


def returns_differ(x):
    if x.sum() > 0:  # AT x.sum() > 0: the returned value is
        return x, 1
    return x


def set_on_one_side(x):
    if x.sum() > 0:
        y = x
    return y  # AT y: 'y' is set only where the condition holds


def set_in_loop(x):
    while x.sum() < 10:
        x = x * 2
        y = x
    return y  # AT y: set it before


def grows(x):
    found = []
    while x.sum() < 10:  # AT while: a list grows in a loop
        x = x * 2
        found.append(x)
    return found


def changes_dtype(x):
    n = 0
    while x.sum() < 10:  # AT while: 'n' starts as 0 and becomes 0.5
        x = x * 2
        n = n + 0.5
    return n


def changes_what_may_be_shared(x):
    if x.sum() > 0:
        y = x * 2
        z = y[0]
    else:
        y = x * 3
        z = x[0] * 3
    y += 1  # AT y += 1: it may share memory with another one
    return y, z


def changes_a_set(x):
    names = set()
    if x.sum() > 0:
        names.add("x")  # AT names.add: a set is changed where tensors decide
    return x


def changes_a_set_outside(x):
    NAMES.add("x")  # AT NAMES.add: a set from outside the function is changed
    return x


def sets_a_global(x):
    global COUNT
    COUNT = COUNT + 1  # AT COUNT = COUNT: 'COUNT' belongs to a function outside
    return x


def has_class(x):
    class Inner:  # AT class: a classdef statement cannot be compiled
        pass

    return x


def generates(x):
    def parts():
        yield x  # AT yield: this Yield expression cannot be compiled

    return list(parts())


def raises_in_a_branch(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")  # AT raise: a raise that depends on tensor values
    except ValueError:
        x = x + 1
    return x


def transforms(x):
    return torch.func.vmap(lambda y: y * 2)(x)  # AT torch.func.vmap: torch.vmap of a function cannot be read


def list_of_unknown_length(x):
    xs = [x]
    if x.sum() > 0:
        xs.append(x)
    return len(xs)  # AT len(xs): a list has 2 elements where the condition holds and 1


def reads_elements(x):
    return torch.tensor(x.tolist()) + 1  # AT x.tolist(): reads a tensor's elements


def prints(x):
    print(x)  # AT print(x): print would run at compile time only
    return x


def changes_global(x):
    CACHE.append(x)  # AT CACHE.append(x): from outside the function is changed
    return x


def raises_on_tensor(x):
    if x.sum() > 0:
        raise ValueError("positive")  # AT raise: a raise that depends on tensor values
    return x


def bad_shapes(x):
    y = x + 1
    return y @ torch.zeros(2, 2)  # AT y @: RuntimeError


def dynamic_size(x):
    return torch.zeros(int(x.sum()))  # AT torch.zeros: needs the value of a tensor here, for a size


def masked(x):
    return x[x > 1]  # AT x[x > 1]: depends on the values of tensors


def unknown_name(x):
    return x + missing  # noqa: F821  # AT missing: name 'missing' has no value


def without_end(x):
    while True:  # AT while: more than
        x = x + 0


def recursive(x):
    return recursive(x) * 2  # AT recursive(x): nested deeper than


def library_branch(x):
    return sorted([x.sum(), x.mean()])  # AT sorted: code that is not read


def random(x):
    return x + torch.rand(3)  # AT torch.rand: random numbers


CASES = [
    value for value in list(globals().values()) if callable(value) and getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_error_is_at_its_place(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_ITERATIONS", 40)
    with pytest.raises(UnsupportedError) as caught:
        cuvil.compile(function, target="interpreter")(X)
    error = caught.value
    assert error.location is not None
    assert error.location.file == __file__
    line = linecache.getline(__file__, error.location.line)
    assert "# AT " in line, str(error)
    where, _, message = line.partition("# AT ")[2].strip().partition(": ")
    assert line[error.location.column - 1 :].startswith(where), str(error)
    assert message in error.message
    assert line.rstrip() in str(error)
    assert "^" in str(error)


def test_error_in_an_inlined_function_says_who_calls() -> None:
    def outer(x: Tensor) -> Tensor:
        return prints(x * 2)

    with pytest.raises(UnsupportedError, match="note: in the call of prints"):
        cuvil.compile(outer)(X)


def test_what_the_function_raises_is_raised() -> None:
    def checked(x: Tensor, n: int) -> Tensor:
        if n < 0:
            raise ValueError(f"n is {n}")
        return x * n

    with pytest.raises(ValueError, match="n is -1"):
        cuvil.compile(checked)(X, -1)


def test_wrong_arguments() -> None:
    def one(x: Tensor) -> Tensor:
        return x

    with pytest.raises(ArgumentError, match="missing a required argument"):
        cuvil.compile(one)()


def test_models_need_examples() -> None:
    with pytest.raises(cuvil.CuvilError, match="needs example inputs"):
        cuvil.compile(nn.Linear(2, 2))  # pyright: ignore


def test_explain_is_of_compiled_functions() -> None:
    with pytest.raises(cuvil.CuvilError, match="explain takes a function compiled"):
        cuvil.explain(len)  # pyright: ignore


def test_functions_without_source() -> None:
    made: dict[str, Any] = {}
    exec("def f(x): return x", made)
    with pytest.raises(UnsupportedError, match="put it in a file"):
        cuvil.compile(made["f"])


def test_messages_speak_of_tensors_and_torch_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def no_attribute(x: Any) -> Any:
        return x.nope()

    def no_product(x: Tensor, y: Tensor) -> Tensor:
        return x @ y

    with pytest.raises(UnsupportedError, match="AttributeError: 'Tensor' object has no attribute 'nope'"):
        cuvil.compile(no_attribute)(X)
    with pytest.raises(UnsupportedError, match="must have same reduction dim"):
        cuvil.compile(no_product)(torch.ones(2, 3), torch.ones(4, 5))
    assert not caplog.records


def test_lambdas_of_one_line_are_told_apart() -> None:
    one, other = cuvil.compile(lambda x: x + 1), cuvil.compile(lambda x: x * 3)  # pyright: ignore
    assert one(X).tolist() == [2, 3, 4]
    assert other(X).tolist() == [3, 6, 9]
    nested = cuvil.compile(lambda x: (lambda y: y - x)(x * 2))  # pyright: ignore
    assert nested(X).tolist() == [1, 2, 3]
