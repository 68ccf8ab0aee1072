"""`dynamic_shapes` of `cuvil.compile`: what torch.export has of the same name, with `cuvil.Dim` besides torch's Dims.

A `cuvil.Dim` of multiples of m becomes m times a torch Dim, so that torch knows of it, too. The declared dims are kept
beside the tensors of the example that they are of (`Open`): their names are those of the symbols in the IR and in
messages, and examples of other sizes are made by them.

torch takes sizes of 0 and 1 in an example for fixed, and assumes that sizes are larger otherwise; examples are resized
where they have such sizes. Where a range includes 0 or 1, see `cuvil.frontends.dynamic_export`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import torch
from torch.utils import _pytree as pytree

from cuvil.dim import DerivedDim, Dim
from cuvil.errors import UserError
from cuvil.semantics.dims import SymbolRange

TorchDim: Any = torch.export.Dim
Spec: TypeAlias = "Dim | DerivedDim | Any"
"""What is said of one dim: ours, or whatever torch.export takes."""


@dataclass(frozen=True)
class Open:
    """A tensor of the example and what is said of its dims: `factor * root + offset` where the root is known."""

    name: str
    tensor: torch.Tensor
    specs: Mapping[int, Spec]

    def derived(self, axis: int) -> DerivedDim | None:
        """A dim that follows from a `Dim`, ours or torch's; None where torch is to find out what it is."""
        return _derived(self.specs[axis])


@dataclass(frozen=True)
class DynamicShapes:
    """What of an example's shapes a compilation leaves open. `args` and `kwargs` are the example."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    spec: Any
    """As the user wrote it."""
    tensors: tuple[Open, ...]

    @classmethod
    def of(cls, model: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], spec: Any) -> DynamicShapes:
        """What `spec` says of the example `args` and `kwargs`, each tensor of which is an object of its own.

        Raises `UserError` where it does not fit them.
        """
        forward = model.forward if isinstance(model, torch.nn.Module) else model
        try:
            arguments = inspect.signature(forward).bind(*args, **kwargs).arguments
        except TypeError as error:
            raise UserError(f"the example does not fit the model: {error}") from error
        if isinstance(spec, Sequence) and len(spec) != len(arguments):
            raise UserError(f"dynamic_shapes: expected an entry for each of {', '.join(arguments)}, got {len(spec)}")
        found = cls(args, kwargs, spec, tuple(_opened("", arguments, _by_name(arguments, spec))))
        found.check()
        return found

    @cached_property
    def roots(self) -> dict[str, Dim]:
        """The dims that others follow from, by name."""
        found: dict[str, Dim] = {}
        for each in self.tensors:
            for axis in each.specs:
                derived = each.derived(axis)
                if derived is None:
                    continue
                name = derived.root.name
                if found.setdefault(name, derived.root) != derived.root:
                    raise UserError(f"dynamic_shapes: the dim '{name}' is declared twice, and differently")
        return found

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the roots in the example."""
        found: dict[str, int] = {}
        for each in self.tensors:
            for axis in each.specs:
                derived = each.derived(axis)
                if derived is not None:
                    size = each.tensor.shape[axis]
                    found.setdefault(derived.root.name, (size - derived.offset) // derived.factor)
        return found

    def check(self) -> None:
        """Raise `UserError` where the example contradicts the declared dims."""
        for each in self.tensors:
            for axis in each.specs:
                if not 0 <= axis < each.tensor.dim():
                    raise UserError(f"dynamic_shapes: input '{each.name}' has no dim {axis}")
        roots, sizes = self.roots, self.sizes
        for each in self.tensors:
            for axis in each.specs:
                derived = each.derived(axis)
                if derived is None:
                    continue
                expected, got = size_of(derived, sizes), each.tensor.shape[axis]
                if expected != got:
                    raise UserError(
                        f"input '{each.name}', dim {axis} ({derived}): the example has {got}, not {expected}"
                    )
        for name, root in roots.items():
            size = sizes[name]
            if size < root.min or (root.max is not None and size > root.max) or size % root.multiple_of:
                raise UserError(f"the example's {name} is {size}, expected {range_text(range_of(root))}")

    def resized(self, sizes: Mapping[str, int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The example with other sizes of the roots: its tensors cut, or their elements repeated."""
        replaced: dict[int, torch.Tensor] = {}
        for each in self.tensors:
            tensor = each.tensor
            for axis in each.specs:
                derived = each.derived(axis)
                if derived is not None:
                    tensor = _resized(tensor, axis, size_of(derived, {**self.sizes, **sizes}))
            replaced[id(each.tensor)] = tensor
        made = pytree.tree_map(lambda leaf: replaced.get(id(leaf), leaf), (self.args, self.kwargs))
        return made[0], made[1]

    def for_torch(self) -> Any:
        """The specification with torch's Dims in place of ours."""
        made: dict[str, Any] = {}
        return _translated(self.spec, made)


def range_of(root: Dim) -> SymbolRange:
    """What a dim says of its size."""
    return SymbolRange(root.min, root.max, root.multiple_of)


def range_text(known: SymbolRange) -> str:
    """`1..512`, `8..512, a multiple of 8`, `at least 1`."""
    text = f"at least {known.minimum}" if known.maximum is None else f"{known.minimum}..{known.maximum}"
    return text if known.multiple_of == 1 else f"{text}, a multiple of {known.multiple_of}"


def size_of(derived: DerivedDim, sizes: Mapping[str, int]) -> int:
    """The size of a dim where its root has the given one."""
    return derived.factor * sizes[derived.root.name] + derived.offset


def torch_name(root: Dim) -> str:
    """The name of the torch Dim, and of the symbol, for a dim: of multiples of m, it counts m at a time."""
    return root.name if root.multiple_of == 1 else f"{root.name}_by_{root.multiple_of}"


# -- reading -----------------------------------------------------------------------------------------------------------


def _by_name(arguments: Mapping[str, Any], spec: Any) -> Mapping[str, Any]:
    if spec is None or isinstance(spec, Mapping):
        unknown = [name for name in spec or () if name not in arguments]
        if unknown:
            raise UserError(f"dynamic_shapes: there is no input '{unknown[0]}'; there are {', '.join(arguments)}")
        return spec or {}
    return dict(zip(arguments, spec, strict=True))


def _opened(name: str, value: Any, spec: Any) -> Iterator[Open]:
    """The tensors in `value` of which `spec` says something."""
    if spec is None:
        return
    if isinstance(value, torch.Tensor):
        entries = spec.items() if isinstance(spec, Mapping) else enumerate(spec)
        yield Open(name, value, {int(axis): dim for axis, dim in entries if dim is not None})
        return
    if isinstance(value, Mapping):
        pairs = [(f"{name}.{key}" if name else str(key), part, spec.get(key)) for key, part in value.items()]
    else:
        parts = pytree.tree_flatten(value, is_leaf=lambda part: part is not value)[0]
        pairs = [
            (f"{name}[{place}]", part, inner) for place, (part, inner) in enumerate(zip(parts, spec, strict=False))
        ]
    for inner_name, part, inner in pairs:
        yield from _opened(inner_name, part, inner)


def _derived(spec: Spec) -> DerivedDim | None:
    if isinstance(spec, DerivedDim):
        return spec
    if isinstance(spec, Dim):
        return DerivedDim(spec)
    if isinstance(spec, TorchDim):
        return _of_torch(spec)
    return None


def _of_torch(spec: Any) -> DerivedDim | None:
    """A torch Dim as ours: `Dim("b", min=1, max=8)`, or `2*Dim("b")`, whose `fn` is linear in its root."""
    root = getattr(spec, "root", spec)
    if not hasattr(root, "min") or not hasattr(root, "__name__"):
        return None
    highest = int(root.max) if isinstance(root.max, int) and root.max < 2**62 else None
    made = Dim(root.__name__, int(root.min), highest)
    if root is spec:
        return DerivedDim(made)
    offset = int(spec.fn(0))
    return DerivedDim(made, int(spec.fn(1)) - offset, offset)


def _resized(tensor: torch.Tensor, axis: int, size: int) -> torch.Tensor:
    old = tensor.shape[axis]
    if old == size:
        return tensor
    if old == 0:
        shape = [size if place == axis else length for place, length in enumerate(tensor.shape)]
        return tensor.new_zeros(shape)
    return tensor.detach().index_select(axis, torch.arange(size) % old)


def _translated(spec: Any, made: dict[str, Any]) -> Any:
    if isinstance(spec, Dim | DerivedDim):
        return _to_torch(spec if isinstance(spec, DerivedDim) else DerivedDim(spec), made)
    if isinstance(spec, Mapping):
        return {key: _translated(part, made) for key, part in spec.items()}
    if isinstance(spec, list | tuple):
        return type(spec)([_translated(part, made) for part in spec])
    return spec


def _to_torch(derived: DerivedDim, made: dict[str, Any]) -> Any:
    root = derived.root
    if root.name not in made:
        lowest = -(-root.min // root.multiple_of)
        highest = None if root.max is None else root.max // root.multiple_of
        made[root.name] = TorchDim(torch_name(root), min=lowest, max=highest)
    scale = derived.factor * root.multiple_of
    scaled = made[root.name] if scale == 1 else scale * made[root.name]
    return scaled + derived.offset if derived.offset else scaled
