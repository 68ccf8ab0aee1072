"""What a compiled module is called with: checked against what it was compiled for, quickly where all is well.

The fast path compares dtype, shape and contiguity and takes the tensor, or the NumPy array's memory, as it is. Anything
else (another library's array, a non-contiguous tensor, a wrong one) goes the slow path, which converts it or says which
argument is wrong and how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from cuvil.dialects.types import shape_of
from cuvil.errors import CuvilRuntimeError
from cuvil.foreign_tensors import ForeignError, is_foreign, tensor_of
from cuvil.frontends.exported import ImportedModule, Input
from cuvil.semantics.dims import Dim

from_numpy = torch.from_numpy
_ARRAY_DTYPES: dict[torch.dtype | None, np.dtype[Any]] = {
    dtype: torch.empty(0, dtype=dtype).numpy().dtype
    for dtype in (
        *(torch.float16, torch.float32, torch.float64, torch.bool),
        *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    )
}
"""The dtypes of arrays, as NumPy's own objects: those of most arrays are these very ones."""


class ArgumentError(CuvilRuntimeError, TypeError):
    """An argument that a compiled module was not compiled for."""


class Arguments:
    """The inputs of a compiled module, and how calls are brought into their order."""

    def __init__(self, imported: ImportedModule) -> None:
        self._inputs = imported.inputs
        self._only_read = imported.effects is None
        self._tree = imported.input_tree
        self.names = [given.name for given in imported.inputs]
        shapes = [shape_of(given.type) if given.type is not None else None for given in imported.inputs]
        self.has_symbols = any(shape is not None and not _is_known(shape) for shape in shapes)
        tensors_only = all(given.type is not None for given in imported.inputs)
        self.is_flat = tensors_only and _is_flat(imported.input_tree, len(imported.inputs))
        """Whether positional arguments are the inputs, one by one."""
        self._positional_names = _positional_names(imported.input_tree, self.names)
        self._expected: list[tuple[torch.dtype | None, torch.Size | None, int]] = [
            (given.dtype, torch.Size(shape) if shape is not None and _is_known(shape) else None, len(shape or ()))  # pyright: ignore
            for given, shape in zip(imported.inputs, shapes, strict=True)
        ]

    def tensors(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
        """The contiguous CPU tensors that a call passes, in order. Raises `ArgumentError` where they do not fit.

        Symbolic dims may have any size here; whoever runs the program finds out which (`SymbolBinding`).
        """
        leaves = args if self.is_flat and not kwargs else self.leaves(args, kwargs)
        if len(leaves) != len(self._expected):
            raise ArgumentError(f"expected {len(self._expected)} arguments ({self._listing()}), got {len(leaves)}")
        tensors: list[Tensor] = []
        for number, (leaf, (dtype, shape, rank)) in enumerate(zip(leaves, self._expected, strict=True)):
            if (
                type(leaf) is Tensor
                and not leaf.is_nested
                and (leaf.shape == shape or (shape is None and leaf.dim() == rank))
                and leaf.dtype is dtype
                and leaf.is_cpu
                and leaf.layout is torch.strided
                and leaf.is_contiguous()
                and not leaf.is_neg()
            ):
                tensors.append(leaf)
            elif (
                type(leaf) is np.ndarray
                and leaf.dtype is _ARRAY_DTYPES.get(dtype)
                and leaf.shape == shape
                and (flags := leaf.flags).c_contiguous
                and flags.writeable
            ):
                tensors.append(from_numpy(leaf))
            elif (tensor := self._converted(self._inputs[number], leaf)) is not None:
                tensors.append(tensor)
        return tensors

    def leaves(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of a call's pytrees; keyword arguments in any order, positional ones by name too."""
        expected_kwargs = list(self._tree.children()[1].context) if self._tree is not None else []
        given = dict(kwargs)
        args = [*args, *self._positional_by_name(len(args), given)]
        unknown = [name for name in given if name not in expected_kwargs]
        if unknown:
            expected = [*filter(None, self._positional_names[len(args) :]), *expected_kwargs]
            raise ArgumentError(f"unexpected keyword argument '{unknown[0]}'; expected {', '.join(expected) or 'none'}")
        missing = [name for name in expected_kwargs if name not in given]
        if missing:
            raise ArgumentError(f"missing keyword argument '{missing[0]}'")
        leaves, tree = pytree.tree_flatten((tuple(args), {name: given[name] for name in expected_kwargs}))
        if self._tree is not None and tree != self._tree:
            expected = self._tree.children()[0].num_children
            if len(args) != expected:
                raise ArgumentError(f"expected {expected} positional arguments ({self._listing()}), got {len(args)}")
            raise ArgumentError(f"arguments are nested as {tree}, compiled for {self._tree}")
        return leaves

    def _positional_by_name(self, passed: int, keywords: dict[str, Any]) -> list[Any]:
        """The positional arguments after the first `passed` ones that are among `keywords`, and taken out of them."""
        found: list[Any] = []
        for name in self._positional_names[passed:]:
            if name is None or name not in keywords:
                break
            found.append(keywords.pop(name))
        return found

    def _converted(self, expected: Input, value: Any) -> Tensor | None:
        """An argument off the fast path: made a contiguous tensor, or None for a constant that fits."""
        if expected.type is None:
            if not _is_same_constant(value, expected.constant):
                got = _description(value) if isinstance(value, Tensor) else repr(value)
                raise ArgumentError(f"input '{expected.name}': got {got}, compiled for {expected.constant!r} only")
            return None
        if not isinstance(value, Tensor):
            if not isinstance(value, np.generic) and not is_foreign(value):
                raise ArgumentError(f"input '{expected.name}': got {type(value).__name__}, expected a tensor")
            try:
                value = tensor_of(value, self._only_read)
            except ForeignError as error:
                raise ArgumentError(f"input '{expected.name}': got {error}") from error
        shape = shape_of(expected.type)
        fits = (
            not value.is_nested
            and value.dim() == len(shape)
            and all(not isinstance(dim, int) or dim == size for dim, size in zip(shape, value.shape, strict=True))
        )
        plain = value.layout == torch.strided and value.device.type == "cpu" and _has_memory(value)
        if not fits or not plain or value.dtype != expected.dtype:
            raise ArgumentError(
                f"input '{expected.name}': got {_description(value)}, "
                f"expected {_name(expected.dtype)} {_format(shape)} on cpu"
            )
        return value.detach().resolve_neg().contiguous()

    def _listing(self) -> str:
        return ", ".join(self.names)


def _is_known(shape: Sequence[Dim]) -> bool:
    return all(isinstance(dim, int) for dim in shape)


def _is_flat(tree: Any, count: int) -> bool:
    if tree is None:
        return True
    positional, keywords = tree.children()
    return not keywords.children() and len(positional.children()) == count == positional.num_leaves


def _positional_names(tree: Any, leaf_names: Sequence[str]) -> list[str | None]:
    """The names of positional arguments that are one tensor or constant each; of nested ones only leaves have names."""
    if tree is None:
        return list(leaf_names)
    names: list[str | None] = []
    position = 0
    for child in tree.children()[0].children():
        names.append(leaf_names[position] if child.is_leaf() else None)
        position += child.num_leaves
    return names


def _is_same_constant(value: Any, constant: Any) -> bool:
    """Whether a call's constant is the one compiled for; 3.0 is not 3, which gives other element types."""
    if value is constant:
        return True
    if type(value) is not type(constant) or isinstance(value, Tensor):
        return False
    return bool(value == constant) or (value != value and constant != constant)


def _has_memory(value: Tensor) -> bool:
    """Whether a tensor's elements are in its own memory: not so in those that torch makes to trace or wrap others."""
    dispatch: Any = getattr(type(value), "__torch_dispatch__", None)
    return dispatch is getattr(Tensor, "__torch_dispatch__", None)


def _description(value: Tensor) -> str:
    if value.is_nested:
        return f"a nested tensor of {_name(value.dtype)}"
    if not _has_memory(value):
        return f"a {type(value).__name__}"
    layout = "" if value.layout == torch.strided else f" ({value.layout})"
    return f"{_name(value.dtype)} {_format(tuple(value.shape))} on {value.device}{layout}"


def _name(dtype: torch.dtype | None) -> str:
    return str(dtype).removeprefix("torch.")


def _format(shape: Sequence[Dim]) -> str:
    return "[" + ", ".join(str(dim) for dim in shape) + "]"
