"""Custom ops from registration to native code, through every door, and what is said where one is wrong."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import cuvil
from cuvil.custom_ops import CustomOpError, find_op
from cuvil.semantics.hashing import SemanticHasher


@torch.library.custom_op("cuviltest::add_relu", mutates_args=())
def add_relu(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(x + y)


@torch.library.custom_op("cuviltest::scaled", mutates_args=())
def scaled(x: Tensor, alpha: float, times: int = 1) -> Tensor:
    return x * alpha * times


@torch.library.custom_op("cuviltest::both", mutates_args=())
def both(x: Tensor) -> tuple[Tensor, Tensor]:
    return x + 1, x.sum(-1)


@add_relu.register_fake
def _(x: Tensor, y: Tensor) -> Tensor:
    return torch.empty_like(x + y)


@scaled.register_fake
def _(x: Tensor, alpha: float, times: int = 1) -> Tensor:
    return torch.empty_like(x)


@both.register_fake
def _(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), x.new_empty(x.shape[:-1])


def reference(x: Any, y: Any) -> Any:
    return np.maximum(x + y, 0)


@pytest.fixture
def register() -> Generator[Callable[..., Any]]:
    names: list[str] = []

    def put(name: str, **how: Any) -> Any:
        op = cuvil.register_op(name, **how)
        names.append(name)
        return op

    yield put
    for name in names:
        if find_op(name) is not None:
            cuvil.unregister_op(name)


class Model(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.exp(-add_relu(x * 2, y)) + 1


X, Y = torch.randn(3, 17), torch.randn(3, 17)
WAYS: dict[str, dict[str, Any]] = {
    "expression": {"reference": reference, "lowering": "relu(x + y)"},
    "where": {"reference": reference, "lowering": {"cpu": "where(x + y < 0, 0, x + y)", "cuda": "relu(x + y)"}},
    "builder": {"reference": reference, "lowering": lambda b, x, y: b.unary("relu", b.binary("add", x, y))},
    "decomposition": {"decomposition": lambda x, y: torch.relu(x + y)},
    "callback": {"callback": reference},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_door(register: Callable[..., Any], way: str) -> None:
    register("cuviltest::add_relu", **WAYS[way], check=[(X, Y)])
    model = Model().eval()
    expected = model(X, Y)
    compiled = cuvil.compile(model, (X, Y), options={"verify": True, "validate": True})
    torch.testing.assert_close(compiled(X, Y), expected)
    torch.testing.assert_close(cuvil.compile(model, (X, Y), target="interpreter")(X, Y), expected)
    function = cuvil.compile(lambda x, y: torch.exp(-torch.ops.cuviltest.add_relu(x * 2, y)) + 1)
    torch.testing.assert_close(function(X, Y), expected)
    torch.compiler.reset()
    graph = torch.compile(model, backend="cuvil", fullgraph=True)
    with torch.no_grad():
        torch.testing.assert_close(graph(X, Y), expected)
    assert "left to PyTorch" not in str(cuvil.explain(graph))


@pytest.mark.parametrize("way", ["expression", "builder", "decomposition"])
def test_joins_its_neighbours_in_one_kernel(register: Callable[..., Any], way: str) -> None:
    register("cuviltest::add_relu", **WAYS[way])
    text = cuvil.compile(Model().eval(), (X, Y)).text("fuse")
    assert text.count("cuvil_fused.kernel") == 1
    assert "cuvil_tensor.custom" not in text


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int32])
@pytest.mark.parametrize("way", ["expression", "callback"])
def test_element_types_and_broadcasts(register: Callable[..., Any], way: str, dtype: torch.dtype) -> None:
    register("cuviltest::add_relu", **WAYS[way])
    x, y = (X * 5).to(dtype), (Y[:1] * 5).to(dtype)
    result = cuvil.compile(Model().eval() if dtype.is_floating_point else Plain().eval(), (x, y))(x, y)
    expected = (Model() if dtype.is_floating_point else Plain())(x, y)
    torch.testing.assert_close(result, expected)


class Plain(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return add_relu(x, y)


def test_arguments_that_are_no_tensors(register: Callable[..., Any]) -> None:
    register(
        "cuviltest::scaled",
        reference=lambda x, alpha, times=1: x * np.asarray(alpha * times, x.dtype),
        lowering="x * alpha * times",
        check=[(X, 0.5, 3), (X, -2.0)],
    )
    function = cuvil.compile(lambda x: scaled(x, 0.5, times=2) - scaled(x, 3.0))
    torch.testing.assert_close(function(X), X * 1.0 - X * 3.0)
    compiled = function.specializations[0].compiled
    assert compiled is not None
    assert 'cuvil_tensor.custom @"cuviltest::scaled"' in str(compiled.module)


def test_several_results(register: Callable[..., Any]) -> None:
    register("cuviltest::both", callback=lambda x: (x + 1, x.sum(-1)), check=[(X,)])
    one, other = cuvil.compile(lambda x: both(x * 2))(X)
    torch.testing.assert_close(one, X * 2 + 1)
    torch.testing.assert_close(other, (X * 2).sum(-1))


def test_calls_back_under_control_flow(register: Callable[..., Any]) -> None:
    register("cuviltest::add_relu", callback=reference)

    @cuvil.compile
    def looped(x: Tensor, y: Tensor) -> Tensor:
        i = 0
        while i < 3 and x.sum() < 1e6:
            x = torch.ops.cuviltest.add_relu(x, y) if x.sum() > 0 else x + 1
            i += 1
        return x

    eager: Any = looped.function
    for start in (X.abs(), -X.abs()):
        torch.testing.assert_close(looped(start, Y), eager(start, Y))


def test_error_of_a_call_back_is_the_cause(register: Callable[..., Any]) -> None:
    calls: list[int] = []

    def failing(x: Any, y: Any) -> Any:
        calls.append(1)
        if x[0, 0] > 100:
            raise ValueError("too large")
        return x + y

    register("cuviltest::add_relu", callback=failing)
    function = cuvil.compile(lambda x, y: add_relu(add_relu(x, y), y))
    function(X, Y)
    calls.clear()
    message = "the call-back of op 'cuviltest::add_relu' raised ValueError: too large"
    with pytest.raises(cuvil.CuvilError, match=message) as raised:
        function(X + 1000, Y)
    assert isinstance(raised.value.__cause__, ValueError)
    assert len(calls) == 1  # the second one is not called on what the first left
    torch.testing.assert_close(function(X, Y), X + Y + Y)


def test_wrong_result_of_a_call_back(register: Callable[..., Any]) -> None:
    register("cuviltest::add_relu", callback=lambda x, y: (x + y)[:2])
    function = cuvil.compile(lambda x, y: add_relu(x, y))
    with pytest.raises(cuvil.CuvilError, match=r"it gave shape \[2, 17\], expected \[3, 17\]"):
        function(X, Y)


WRONG_CALLBACKS: list[tuple[Callable[..., Any], str]] = [
    (lambda x, y: (x + y).astype(np.complex64), "it gave an array of complex64, expected real numbers"),
    (lambda x, y: None, "it gave an array of object, expected real numbers"),
    (lambda x, y: np.add(x, y, out=x), "read-only"),
]


@pytest.mark.parametrize(("callback", "message"), WRONG_CALLBACKS)
def test_what_a_call_back_may_not_do(register: Callable[..., Any], callback: Any, message: str) -> None:
    register("cuviltest::add_relu", callback=callback)
    function = cuvil.compile(lambda x, y: add_relu(x, y))
    with pytest.raises(cuvil.CuvilError, match=message):
        function(X, Y)


def test_an_interrupt_in_a_call_back_is_one(register: Callable[..., Any]) -> None:
    def interrupted(x: Any, y: Any) -> Any:
        raise KeyboardInterrupt

    register("cuviltest::add_relu", callback=interrupted)
    function = cuvil.compile(lambda x, y: add_relu(x, y))
    with pytest.raises(KeyboardInterrupt):
        function(X, Y)


CALLS: dict[str, Callable[[Tensor], Any]] = {
    "the same twice": lambda x: add_relu(x, x),
    "nothing of it": lambda x: add_relu(x[:0], x[:0]),
    "one number": lambda x: add_relu(x[0, 0].bfloat16(), x[1, 1].bfloat16()),
    "first result": lambda x: both(x)[0],
    "second result": lambda x: both(x)[1] * 2,
    "all": lambda x: both(add_relu(-x, -x)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_operands_and_results_of_call_backs(register: Callable[..., Any], call: Callable[[Tensor], Any]) -> None:
    class Calls(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return call(x)

    register("cuviltest::add_relu", callback=reference)
    register("cuviltest::both", callback=lambda x: (x + 1, x.sum(-1)))
    torch.testing.assert_close(cuvil.compile(Calls(), (X,))(X), call(X))


def broken(b: Any, x: Any, y: Any) -> Any:
    raise ZeroDivisionError("by zero")


@pytest.mark.parametrize(
    ("lowering", "message"),
    [
        (broken, "op 'cuviltest::add_relu': its lowering failed: ZeroDivisionError: by zero"),
        (lambda b, x, y: None, "op 'cuviltest::add_relu': its lowering gives values of the builder, got None"),
    ],
)
def test_a_lowering_that_fails(register: Callable[..., Any], lowering: Any, message: str) -> None:
    register("cuviltest::add_relu", reference=reference, lowering=lowering)
    with pytest.raises(cuvil.CuvilError, match=message):
        cuvil.compile(Model().eval(), (X, Y))


def test_lists_of_tensors_are_refused_at_once() -> None:
    @torch.library.custom_op("cuviltest::listed", mutates_args=())
    def listed(xs: list[Tensor]) -> Tensor:
        return xs[0] + 1

    assert listed is not None
    with pytest.raises(CustomOpError, match="'xs' is a list of tensors; pass them one by one"):
        cuvil.register_op("cuviltest::listed", callback=lambda xs: xs[0] + 1)


def test_call_backs_from_several_threads(register: Callable[..., Any]) -> None:
    def failing(x: Any, y: Any) -> Any:
        if x[0, 0] < 0:
            raise ValueError("negative")
        return x + y

    register("cuviltest::add_relu", callback=failing)
    function = cuvil.compile(lambda x, y: add_relu(x, y) * 2)
    function(X.abs(), Y)
    wrong: list[str] = []

    def work(number: int) -> None:
        x = torch.full((3, 17), float(number))
        for _ in range(50):
            try:
                result = function(x, Y)
                if number < 0 or not torch.allclose(result, (x + Y) * 2):
                    wrong.append(f"{number}: no error")
            except cuvil.CuvilError:
                if number >= 0:
                    wrong.append(f"{number}: another thread's error")

    threads = [threading.Thread(target=work, args=(number,)) for number in (-1, 1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_function_of_c(register: Callable[..., Any]) -> None:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

    @prototype
    def add(inputs: int, outputs: int, shapes: int) -> int:
        read = ctypes.POINTER(ctypes.POINTER(ctypes.c_float))
        x, y = (ctypes.cast(inputs, read)[number] for number in range(2))
        sizes = ctypes.cast(shapes, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)))[0]
        for place in range(sizes[0] * sizes[1]):
            ctypes.cast(outputs, read)[0][place] = x[place] + y[place]
        return 0 if x[0] < 100 else 7

    register("cuviltest::add_relu", callback=add, reference=lambda x, y: x + y)
    function = cuvil.compile(lambda x, y: add_relu(x, y) + 1)
    torch.testing.assert_close(function(X, Y), X + Y + 1)
    with pytest.raises(cuvil.CuvilError, match="it returned the status 7"):
        function(X + 1000, Y)


def test_call_back_over_symbolic_sizes(register: Callable[..., Any]) -> None:
    register("cuviltest::add_relu", callback=reference)
    batch = cuvil.Dim("batch", min=1, max=64)
    compiled = cuvil.compile(Model().eval(), (X, Y), dynamic_shapes=({0: batch}, {0: batch}))
    for size in (1, 5, 64):
        x, y = torch.randn(size, 17), torch.randn(size, 17)
        torch.testing.assert_close(compiled(x, y), Model()(x, y))


def test_semantic_hash_tells_registrations_apart(register: Callable[..., Any]) -> None:
    hashes: list[str] = []
    for expression in ("relu(x + y)", "relu(x - y)", "relu(x + y)"):
        op = register("cuviltest::add_relu", reference=reference, lowering=expression)
        module = cuvil.trace(Plain().eval(), (X, Y)).module
        hashes.append(SemanticHasher(module).module_hash())
        op.unregister()
    assert hashes[0] == hashes[2] != hashes[1]


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({}, "needs one of decomposition, callback and a lowering for cpu; got none of them"),
    ({"lowering": "relu(x + y)"}, "has a lowering and no reference"),
    ({"lowering": {"tpu": "x"}}, "unknown target 'tpu'"),
    ({"callback": reference, "decomposition": add_relu}, "got decomposition and callback"),
    ({"callback": lambda x: x}, "the callback must take 2 tensor"),
    ({"reference": lambda x, y, z: x, "lowering": "x"}, "the reference must take 2 tensor"),
    ({"reference": reference, "lowering": lambda x, y: x}, "the lowering for cpu must take a builder and 2 tensor"),
    ({"reference": reference, "lowering": "relu(x + z)"}, "uses 'z'; its arguments are x, y"),
    ({"reference": reference, "lowering": "relux(x)"}, "calls 'relux', which is no scalar function"),
    ({"reference": reference, "lowering": "relu(x, y)"}, "calls 'relu' with 2 operands, not 1"),
    ({"reference": reference, "lowering": "x +"}, "cannot be read"),
    ({"reference": reference, "lowering": "x if y else x"}, "is no scalar expression: ifexp"),
    (
        {"reference": lambda x, y: x - y, "lowering": "relu(x + y)", "check": [(X, Y)]},
        "sample 0: the reference differs",
    ),
    ({"reference": reference, "lowering": "relu(x - y)", "check": [(X, Y)]}, "sample 0: compiled code differs"),
    ({"decomposition": lambda x, y: x[0] + y[0], "check": [(X, Y)]}, "what computes it gives tensor<17xf32>"),
    ({"reference": reference, "lowering": 5}, "a lowering is an expression or a function, got int"),
    ({"callback": "x + y"}, "callback is a function, got str"),
    ({"callback": reference, "check": [X]}, "sample 0 is a tuple of arguments, got Tensor: check=[(x, y)]"),
    ({"callback": reference, "check": [(1, 2)]}, "sample 0: the torch op failed"),
]


@pytest.mark.parametrize(("how", "message"), MISTAKES, ids=[message[:40] for _, message in MISTAKES])
def test_mistakes(how: dict[str, Any], message: str) -> None:
    with pytest.raises(CustomOpError) as raised:
        cuvil.register_op("cuviltest::add_relu", **how)
    assert message in raised.value.message
    assert find_op("cuviltest::add_relu") is None


def test_names(register: Callable[..., Any]) -> None:
    register("cuviltest::add_relu", callback=reference)
    with pytest.raises(CustomOpError, match="is registered already"):
        cuvil.register_op("cuviltest::add_relu", callback=reference)
    with pytest.raises(CustomOpError, match="is no name of an op"):
        cuvil.register_op("add_relu", callback=reference)
    with pytest.raises(CustomOpError, match="is not registered"):
        cuvil.unregister_op("cuviltest::unknown")


def test_an_op_that_is_not_registered_is_named() -> None:
    with pytest.raises(cuvil.UnsupportedOpsError, match=r"cuviltest.add_relu.default.*cuvil.register_op"):
        cuvil.compile(Plain().eval(), (X, Y))
