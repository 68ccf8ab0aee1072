"""On a real GPU: every program of the simulator's tests gives what the reference interpreter does."""

import pytest

from tests.gpu_device import Device, run_cases


@pytest.mark.gpu
def test_every_program_agrees() -> None:
    found = run_cases(Device())
    assert found
    assert {label: result for label, result in found.items() if result != "passed"} == {}
