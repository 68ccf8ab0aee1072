"""What goes into compiled code and comes out of it: no copies, outputs of the caller's own, calls from many threads."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import cuvil
from cuvil.foreign_tensors import tensor_of


class Add(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


class Foreign:
    """An array of another library: it speaks DLPack and nothing else."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


class Broken:
    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("exported twice")

    def __dlpack_device__(self) -> Any:
        return (1, 0)


X, Y = torch.randn(3, 4), torch.randn(3, 4)


@pytest.fixture(scope="module", params=["model", "function", "interpreter"])
def add(request: pytest.FixtureRequest) -> Callable[..., Tensor]:
    if request.param == "function":
        return cuvil.compile(lambda x, y: x + y)
    return cuvil.compile(Add().eval(), (X, Y), target="interpreter" if request.param == "interpreter" else "cpu")


def read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "converted",
    [
        lambda x: x.numpy(),
        lambda x: read_only(x.numpy()),
        lambda x: np.asfortranarray(x.numpy()),
        lambda x: x.numpy()[::-1][::-1],
        lambda x: np.flip(np.flip(x.numpy()).copy()),
        lambda x: x.numpy().astype(">f4"),
        lambda x: np.broadcast_to(x.numpy(), (3, 4)),
        Foreign,
        lambda x: Foreign(x.t().contiguous().t()),
        lambda x: nn.Parameter(x),
    ],
    ids="array read-only fortran view negative-strides byte-order broadcast dlpack dlpack-strided parameter".split(),
)
def test_arrays_of_other_libraries(add: Callable[..., Tensor], converted: Callable[[Tensor], Any]) -> None:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        result = add(converted(X), Y)
    assert type(result) is Tensor
    torch.testing.assert_close(result, X + Y)


def test_a_function_is_compiled_once_for_tensors_and_arrays() -> None:
    function = cuvil.compile(lambda pair: pair[0] * pair[1])
    for pair in ((X, Y), (X.numpy(), Y.numpy()), (Foreign(X), Y.numpy())):
        torch.testing.assert_close(function(pair), X * Y)
    assert len(function.specializations) == 1


@pytest.mark.parametrize("make", [lambda x: x.numpy(), lambda x: read_only(x.numpy()), Foreign])
def test_memory_is_seen_and_not_copied(make: Callable[[Tensor], Any]) -> None:
    source = make(X)
    address = source.ctypes.data if isinstance(source, np.ndarray) else X.data_ptr()
    assert tensor_of(source, only_read=True).data_ptr() == address


def test_a_read_only_array_that_may_be_written_to_is_copied() -> None:
    array = read_only(X.numpy())
    assert tensor_of(array, only_read=False).data_ptr() != array.ctypes.data


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Broken(), "a Broken that gives no tensor by DLPack .*exported twice"),
        (np.array(["a"]), "a NumPy array of <U1"),
        (np.ma.MaskedArray(X.numpy()), "a masked NumPy array"),
    ],
)
def test_what_is_no_tensor_is_named(add: Callable[..., Tensor], value: Any, message: str) -> None:
    with pytest.raises(cuvil.ArgumentError, match=message):
        add(value, Y)


def test_outputs_are_the_callers(add: Callable[..., Tensor]) -> None:
    first, second = add(X, Y), add(X, Y)
    assert first.data_ptr() != second.data_ptr()
    first.zero_()
    torch.testing.assert_close(second, X + Y)
    array = second.numpy()
    assert array.ctypes.data == second.data_ptr()
    assert np.from_dlpack(second).ctypes.data == second.data_ptr()
    del second
    np.testing.assert_allclose(array, (X + Y).numpy())


def test_calls_from_many_threads(add: Callable[..., Tensor]) -> None:
    wrong: list[str] = []

    def work(number: int) -> None:
        x = torch.full((3, 4), float(number))
        for turn in range(100):
            result = add(x.numpy() if turn % 2 else x, Y)
            if not torch.equal(result, x + Y):
                wrong.append(f"{number} at {turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_first_call_from_many_threads_compiles_once() -> None:
    function = cuvil.compile(lambda x: torch.tanh(x) * 3)
    results: list[Tensor] = []
    threads = [threading.Thread(target=lambda: results.append(function(X))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(function.specializations) == 1
    for result in results:
        torch.testing.assert_close(result, torch.tanh(X) * 3)
