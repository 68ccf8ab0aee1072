"""Notices `self.buffer = new` while a model is exported.

torch.export has a copy into the buffer for it, and for buffers of submodules nothing at all; in eager PyTorch the
module has another tensor from then on.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def assigned_buffers(model: nn.Module) -> Generator[dict[str, Tensor]]:
    """The (fake) tensors that buffers of `model` were assigned last, by name; filled while the context is entered."""
    names = {id(module): name for name, module in model.named_modules()}
    found: dict[str, Tensor] = {}
    kind: Any = nn.Module
    plain = kind.__setattr__

    def setting(module: Any, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and id(module) in names and name in module._buffers:
            owner = names[id(module)]
            found[f"{owner}.{name}" if owner else name] = value
        plain(module, name, value)

    kind.__setattr__ = setting
    try:
        yield found
    finally:
        kind.__setattr__ = plain
