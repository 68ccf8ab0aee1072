"""Reference meaning of `cuvil_gpu` in the host program: a launch runs its kernel in the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuvil.dialects.gpu import KernelOp, LaunchOp
from cuvil.errors import UserError
from cuvil.semantics.interpreter import Frame, Meaning


def _launch(frame: Frame, op: LaunchOp, operands: Sequence[Any]) -> Sequence[Any]:
    from cuvil.semantics.simulator.block import launch

    name = op.kernel.string_value()
    kernel = frame.interpreter.symbol(name)
    if not isinstance(kernel, KernelOp):
        raise UserError(f"{op.name}: there is no kernel @{name} in the module", op)
    x, y, z, *arguments = operands
    launch(frame, kernel, (int(x), int(y), int(z)), arguments)
    return ()


MEANINGS: dict[str, Meaning] = {"cuvil_gpu.launch": _launch}
