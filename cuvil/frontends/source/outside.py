"""Tensors that a function finds outside of its arguments: how compiled code reads them anew, and puts others there.

A weight's value is part of the code. A tensor that the function changes is not: it is *state*, given at each call, read
from where the function found it (a module's attribute, a global) or, where that is not known, the tensor itself.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from cuvil.errors import UnsupportedError
from cuvil.write_back import State


class AttributeAssignedError(UnsupportedError):
    """A module's tensor is replaced: read the function again with that attribute among the variables."""

    def __init__(self, holder: Any, name: str, tensor: Tensor) -> None:
        super().__init__(f"attribute '{name}' is assigned")
        self.holder = holder
        self.name = name
        self.tensor = tensor


class Outside:
    """Where tensors were found."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[Tensor, Any, str]] = {}
        self._modules: list[nn.Module] = []

    def found(self, tensor: Tensor, holder: Any, name: str) -> None:
        """Note that a tensor is an attribute of an object."""
        self._places.setdefault(id(tensor), (tensor, holder, name))

    def saw(self, module: nn.Module) -> None:
        """Note a module, whose tensors library code may read."""
        if not any(module is each for each in self._modules):
            self._modules.append(module)

    def state_of(self, tensor: Tensor) -> State:
        """How a call reads a tensor, and replaces it."""
        known = self._places.get(id(tensor))
        if known is None:
            known = self._in_modules(tensor)
        if known is None:
            return State("a tensor from outside", lambda: tensor, _refuse)
        _, holder, name = known
        return State(name, lambda: getattr(holder, name), lambda value: setattr(holder, name, value))

    def _in_modules(self, tensor: Tensor) -> tuple[Tensor, Any, str] | None:
        for root in self._modules:
            for module in root.modules():
                for name, held in (*module.named_buffers(recurse=False), *module.named_parameters(recurse=False)):
                    if held is tensor:
                        return tensor, module, name
        return None


def _refuse(value: Tensor) -> None:
    raise UnsupportedError("a tensor from outside cannot be replaced")
