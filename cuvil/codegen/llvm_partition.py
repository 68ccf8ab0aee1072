"""Cut a module into several, so that they compile at the same time.

Internal functions stay with the functions that refer to them; kernels, which only the host program calls, move apart
and become external. The host program goes first. Thread functions and constants are small and internal: each part
that uses one gets a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cuvil.codegen.llvm_parallel import THREAD
from cuvil.codegen.llvm_text import SymbolText, text_of_symbols
from cuvil.targets.cpu import CpuTarget

_SMALLEST_PART = 20_000
"""Characters of LLVM text (some 500 instructions) below which another part does not pay."""


def partition(symbols: Sequence[SymbolText], target: CpuTarget, parts: int) -> list[str]:
    """`symbols` as the texts of at most `parts` modules that link to what one module would be."""
    total = sum(len(symbol.text) for symbol in symbols)
    parts = min(parts, max(1, total // _SMALLEST_PART))
    if parts < 2:
        return [text_of_symbols(symbols, target)]
    by_name = {symbol.name: symbol for symbol in symbols}
    groups = _groups([s for s in symbols if s.is_definition and not _is_copied(s)], by_name)
    bins = _balance(groups, parts)
    return [_part_text(names, symbols, by_name, target) for names in bins if names]


def _is_copied(symbol: SymbolText) -> bool:
    return symbol.is_internal and (symbol.name.startswith(THREAD) or symbol.text.startswith(("@", '@"')))


def _groups(symbols: Sequence[SymbolText], by_name: dict[str, SymbolText]) -> list[list[SymbolText]]:
    """Functions that must stay together: an internal one with the only function that refers to it."""
    users: dict[str, set[str]] = {}
    for symbol in symbols:
        for name in symbol.references:
            users.setdefault(name, set()).add(symbol.name)
    leader = {symbol.name: symbol.name for symbol in symbols}
    for symbol in symbols:
        # A range function has one user, its kernel. A kernel's user, the host, has a name of its own to call it by.
        owners = users.get(symbol.name, set())
        if symbol.is_internal and len(owners) == 1 and symbol.name.startswith(f"{(owner := next(iter(owners)))}."):
            leader[symbol.name] = owner
    grouped: dict[str, list[SymbolText]] = {}
    for symbol in symbols:
        grouped.setdefault(_root(leader, symbol.name), []).append(symbol)
    return list(grouped.values())


def _root(leader: dict[str, str], name: str) -> str:
    while leader[name] != name:
        name = leader[name]
    return name


def _balance(groups: Iterable[list[SymbolText]], parts: int) -> list[set[str]]:
    """Largest first, each to the part that has least."""
    bins: list[set[str]] = [set() for _ in range(parts)]
    sizes = [0] * parts
    for group in sorted(groups, key=lambda group: -sum(len(symbol.text) for symbol in group)):
        place = sizes.index(min(sizes))
        sizes[place] += sum(len(symbol.text) for symbol in group)
        bins[place].update(symbol.name for symbol in group)
    return bins


def _part_text(
    names: set[str], symbols: Sequence[SymbolText], by_name: dict[str, SymbolText], target: CpuTarget
) -> str:
    used = {reference for name in names for reference in by_name[name].references}
    copied = {name for name in used if name in by_name and _is_copied(by_name[name])}
    used |= {reference for name in copied for reference in by_name[name].references}
    chosen: list[SymbolText] = []
    for symbol in symbols:
        if symbol.name in names:
            stays = not symbol.is_internal or "." in symbol.name
            chosen.append(symbol if stays else replace(symbol, text=symbol.text.replace("internal ", "", 1)))
        elif symbol.name in copied:
            chosen.append(symbol)
        elif symbol.name in used:
            chosen.append(replace(symbol, text=symbol.declaration))
    return text_of_symbols(chosen, target)
