"""Compiled models in threads and in forked processes; models compiled in threads."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

import cuvil


def convolution() -> tuple[nn.Module, Tensor]:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU()).eval().requires_grad_(False), torch.randn(1, 3, 64, 64)


def in_threads(work: Callable[[int], None], count: int) -> list[BaseException]:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_calls_from_eight_threads_are_bit_equal() -> None:
    model, x = convolution()
    run = cuvil.compile(model, (x,), options={"threads": 2})
    expected = run(x)

    def work(number: int) -> None:
        for _ in range(20):
            assert torch.equal(run(x), expected)

    assert in_threads(work, 8) == []


def test_models_compiled_in_threads() -> None:
    def work(number: int) -> None:
        model, x = nn.Linear(8, 8 + number).eval(), torch.randn(2, 8)
        torch.testing.assert_close(cuvil.compile(model, (x,))(x), model(x))

    assert in_threads(work, 4) == []


def test_a_forked_process_runs_what_its_parent_compiled() -> None:
    model, x = convolution()
    run = cuvil.compile(model, (x,), options={"threads": 2})
    expected = run(x)
    child = os.fork()
    if child == 0:
        # Bytes are compared, for torch's own `equal` may wait for threads of the parent's.
        os._exit(0 if run(x).numpy().tobytes() == expected.numpy().tobytes() else 3)
    deadline = time.monotonic() + 30
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended == (child, 0)
