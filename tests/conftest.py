"""What every test shares: threads that fit the workers, hypothesis profiles, and skips for what the machine lacks."""

from __future__ import annotations

import ctypes
import os

import hypothesis
import pytest

# Before anything loads an OpenMP runtime: with several workers, each gets its share of the cores.
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // _WORKERS)))

hypothesis.settings.register_profile("default", deadline=None, max_examples=25)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True, database=None)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))


def has_cuda_device() -> bool:
    """Whether the CUDA driver is installed and lists a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `gpu` on a machine without a CUDA device."""
    marked = [item for item in items if item.get_closest_marker("gpu") is not None]
    if marked and not has_cuda_device():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no CUDA device on this machine"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say why a run for the GPU ran nothing."""
    if config.getoption("markexpr") == "gpu" and not has_cuda_device():
        terminalreporter.write_line("no CUDA device on this machine: the tests marked gpu were not run")
