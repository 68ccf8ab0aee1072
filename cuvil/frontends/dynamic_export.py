"""Exporting a model with open dims, also where their ranges include 0 and 1.

By default torch.export assumes that an open dim is larger than 1: a branch on `x.shape[0] == 1` silently takes the way
of larger sizes. Here torch first keeps record of such branches (`backed_size_oblivious`): a program that it can export
so holds for every size. Where it cannot, and the range includes 0 or 1, the program is exported as usual, and its
compiled form has to agree with the model at those sizes on the example's own values (`Probe`), or it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx.experimental import _config as symbolic_shapes
from torch.utils import _pytree as pytree

from cuvil.dim import DerivedDim
from cuvil.errors import UnsupportedError, UserError
from cuvil.frontends.aten_types import named_symbols, shape_of_value
from cuvil.frontends.dynamic_shapes import DynamicShapes, size_of, torch_name
from cuvil.semantics.dims import SymbolRange

_TOLERANCE = 1e-2
"""By how much results may differ, relative to their norm: another way through the model shows, rounding does not."""


@dataclass(frozen=True)
class Probe:
    """A call with sizes that torch.export did not look at."""

    sizes: Mapping[str, int]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True)
class Symbols:
    """The names and ranges of a program's symbols, by torch's names, and those of the inputs' dims."""

    names: Mapping[str, str]
    ranges: Mapping[str, SymbolRange]
    dim_names: Mapping[int, Mapping[int, str]]
    """Of each leaf of the inputs, by axis."""


def export_dynamic(model: torch.nn.Module, shapes: DynamicShapes) -> tuple[ExportedProgram, Symbols, tuple[Probe, ...]]:
    """The program with open dims, its symbols, and what is to be tried of it. Raises what torch.export raises."""
    args, kwargs = shapes.resized(_larger_sizes(shapes))
    spec = shapes.for_torch()
    small = _small_sizes(shapes)
    program, probes = None, ()
    if small:
        program = _exported_for_all_sizes(model, args, kwargs, spec)
    if program is not None and not _has_plain_sizes(program, _symbols_of(program, shapes)):
        program = None
    if program is None:
        program = torch.export.export(model, args, kwargs, dynamic_shapes=spec, strict=False)
        probes = tuple(Probe(sizes, *shapes.resized(sizes)) for sizes in small)
    return program, _symbols_of(program, shapes), probes


def _exported_for_all_sizes(model: torch.nn.Module, args: Any, kwargs: Any, spec: Any) -> ExportedProgram | None:
    """The program if torch can make it without assumptions about 0 and 1."""
    try:
        with symbolic_shapes.patch(backed_size_oblivious=True):  # pyright: ignore
            return torch.export.export(model, args, kwargs, dynamic_shapes=spec, strict=False)
    except Exception:  # whatever it is, the usual way says it better, or has it not
        return None


def _has_plain_sizes(program: ExportedProgram, symbols: Symbols) -> bool:
    """Whether all sizes are dims: what torch makes without assumptions has minima and maxima in it at times."""
    with named_symbols(symbols.names, symbols.ranges):
        for node in program.graph.nodes:
            value = node.meta.get("val")
            try:
                for tensor in value if isinstance(value, list | tuple) else [value]:
                    if isinstance(tensor, torch.Tensor):
                        shape_of_value(tensor)
            except UnsupportedError:
                return False
    return True


def check_probes(model: Callable[..., Any], call: Callable[..., Any], probes: Sequence[Probe]) -> None:
    """Compare the compiled program with its model where torch.export did not look.

    Raises `UserError` that says for which size the model does something else.
    """
    for probe in probes:
        try:
            with torch.no_grad():
                expected = model(*probe.args, **probe.kwargs)
        except Exception:  # the model itself does not take this size: there is nothing to agree with
            continue
        if not _is_close(call(*probe.args, **probe.kwargs), expected):
            least = ", ".join(f"Dim('{name}', min={size + 1})" for name, size in probe.sizes.items() if size < 2)
            where = " and ".join(f"{name} = {size}" for name, size in probe.sizes.items())
            raise UserError(
                f"the model takes another way where {where}, and torch.export saw only that of larger sizes; "
                f"declare {least}, and compile once more for those sizes"
            )


def _is_close(got: Any, expected: Any) -> bool:
    left, right = pytree.tree_leaves(got), pytree.tree_leaves(expected)
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        if not isinstance(other, torch.Tensor):
            if one != other:
                return False
            continue
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        one, other = one.to(torch.float64), other.to(torch.float64)
        if not torch.equal(one.isfinite(), other.isfinite()):
            return False
        finite = other.isfinite()
        difference, size = (one[finite] - other[finite]).norm(), other[finite].norm()
        if difference > _TOLERANCE * size + 1e-5:
            return False
    return True


# -- sizes -------------------------------------------------------------------------------------------------------------


def _larger_sizes(shapes: DynamicShapes) -> dict[str, int]:
    """Sizes of the roots for torch to trace: the example's, or the least that make no dim 0 or 1."""
    chosen = dict(shapes.sizes)
    for name, root in shapes.roots.items():
        if not _has_small_dim(shapes, name, chosen[name]):
            continue
        least = -(-max(root.min, 2) // root.multiple_of) * root.multiple_of
        sizes = [least + step * root.multiple_of for step in range(4)]
        legal = [size for size in sizes if root.max is None or size <= root.max]
        larger = [size for size in legal if not _has_small_dim(shapes, name, size)]
        # Sizes that are told apart: torch may take equal ones for the same.
        fresh = [size for size in larger if size not in chosen.values()]
        chosen[name] = next(iter([*fresh, *larger]), chosen[name])
    return chosen


def _small_sizes(shapes: DynamicShapes) -> list[dict[str, int]]:
    """The combinations of sizes to try: each root where it makes a dim 0 or 1, then all of them."""
    found: list[dict[str, int]] = []
    least: dict[str, int] = {}
    for name, root in shapes.roots.items():
        first = -(-root.min // root.multiple_of) * root.multiple_of
        for size in (first + root.multiple_of, first):
            if (root.max is None or size <= root.max) and _has_small_dim(shapes, name, size):
                found.append({name: size})
                if size > 0:
                    least[name] = size
    return [*found, least] if len(least) > 1 else found


def _has_small_dim(shapes: DynamicShapes, name: str, root_size: int) -> bool:
    """Whether torch's symbol or a dim is 0 or 1 where the root has this size."""
    if root_size // shapes.roots[name].multiple_of < 2:
        return True
    for each in shapes.tensors:
        for axis in each.specs:
            derived = each.derived(axis)
            if derived is not None and derived.root.name == name and size_of(derived, {name: root_size}) < 2:
                return True
    return False


# -- symbols -----------------------------------------------------------------------------------------------------------


def _symbols_of(program: ExportedProgram, shapes: DynamicShapes) -> Symbols:
    """What the symbols of the program are called and range over."""
    leaves = pytree.tree_leaves((shapes.args, shapes.kwargs))
    opened = {id(each.tensor): each for each in shapes.tensors}
    users = set(program.graph_signature.user_inputs)
    inputs = [node for node in program.graph.nodes if node.op == "placeholder" and node.name in users]
    names: dict[str, str] = {}
    declared: dict[str, SymbolRange] = {}
    dim_names: dict[int, dict[int, str]] = {}
    for number, (leaf, node) in enumerate(zip(leaves, inputs, strict=False)):
        each = opened.get(id(leaf))
        if each is None:
            continue
        for axis in each.specs:
            derived = each.derived(axis)
            if derived is None:
                continue
            dim_names.setdefault(number, {})[axis] = str(derived)
            size = node.meta["val"].shape[axis]
            symbols = size.node.expr.free_symbols if isinstance(size, torch.SymInt) else ()
            if len(symbols) == 1:
                (symbol,) = symbols
                names[str(symbol)], declared[str(symbol)] = _symbol_of(derived, size.node.expr, symbol)
    # What torch knows begins with 2 at times; had it found any other limit, it would not have exported the program.
    return Symbols(names, {**ranges_of_program(program), **declared}, dim_names)


def _symbol_of(derived: DerivedDim, size: Any, symbol: Any) -> tuple[str, SymbolRange]:
    """The name and the range of the symbol that torch writes a dim of this size with.

    It is the dim's root, counted in multiples; where torch found the least of several dims that follow from one root
    to be another one, it is that, some units from the root.
    """
    root = derived.root
    least, highest = -(-root.min // root.multiple_of), None if root.max is None else root.max // root.multiple_of
    offset = derived.offset - int(size.subs(symbol, 0))
    shift, rest = divmod(offset, derived.factor * root.multiple_of)
    is_shifted = shift != 0 and rest == 0
    if not is_shifted:
        return torch_name(root), SymbolRange(least, highest)
    name = f"{torch_name(root)}_{'plus' if shift > 0 else 'minus'}_{abs(shift)}"
    return name, SymbolRange(least + shift, None if highest is None else highest + shift)


def ranges_of_program(program: ExportedProgram) -> dict[str, SymbolRange]:
    """What torch.export says of the symbols of a program."""
    found: dict[str, SymbolRange] = {}
    for symbol, known in program.range_constraints.items():
        highest = int(known.upper) if known.upper.is_Integer else None
        least = int(known.lower) if known.lower.is_Integer else 0
        found[str(symbol)] = SymbolRange(max(least, 0), None if highest is None or highest >= 2**62 else highest)
    return found


# -- errors ------------------------------------------------------------------------------------------------------------

_GUARD = re.compile(r"Not all values of (\S+) = .*? satisfy the generated guard (.*?)\.?$", re.MULTILINE)
_CONSTANT = re.compile(r"You marked (\S+) as dynamic but your code specialized it to be a constant \((\d+)\)")
_INPUT_SIZE = re.compile(r"L\['([^']+)'\]((?:\[[^\]]*\])*)\.size\(\)\[(\d+)\]")


def violated_constraints(message: str) -> str | None:
    """What torch.export says of dims that it cannot leave open, in a few words; None where it speaks of else."""
    if "Constraints violated" not in message and "Specializations unexpectedly" not in message:
        return None
    said = [f"{name} is fixed to {size}" for name, size in _CONSTANT.findall(message)]
    for name, guard in _GUARD.findall(message):
        said.append(f"{name}: " + _INPUT_SIZE.sub(r"\1\2.shape[\3]", guard))
    _, _, fixes = message.partition("Suggested fixes:\n")
    advised = [line.strip() for line in fixes.partition("\n\n")[0].splitlines() if line.strip()]
    text = "the model does not hold for all declared sizes: " + "; ".join(dict.fromkeys(said))
    remedy = f"declare {', '.join(advised)}" if advised else "declare a narrower range"
    return f"{text}; {remedy}, or leave these dims out of dynamic_shapes"
