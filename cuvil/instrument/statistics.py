"""Statistics: counters that passes keep about their work, such as kernels made or loads removed.

    statistics.count("fuse", "kernels", 3)

Counters are gathered only inside `collect`; outside it `count` is a context-variable read.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class Statistics:
    """Counters by pass name, then by counter name."""

    counters: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def add(self, pass_name: str, counter: str, amount: int = 1) -> None:
        """Add `amount` to a counter."""
        of_pass = self.counters.setdefault(pass_name, {})
        of_pass[counter] = of_pass.get(counter, 0) + amount

    def get(self, pass_name: str, counter: str) -> int:
        """The value of a counter; 0 if nothing was counted."""
        return self.counters.get(pass_name, {}).get(counter, 0)


_collectors: ContextVar[tuple[Statistics, ...]] = ContextVar("cuvil_statistics", default=())


def is_enabled() -> bool:
    """True if somebody gathers statistics."""
    return bool(_collectors.get())


def count(pass_name: str, counter: str, amount: int = 1) -> None:
    """Add `amount` to `counter` of `pass_name`, if somebody gathers statistics."""
    for statistics in _collectors.get():
        statistics.add(pass_name, counter, amount)


@contextmanager
def collect(into: Statistics | None = None) -> Generator[Statistics]:
    """Gather what is counted inside the `with` block, into `into` or a new `Statistics`."""
    statistics = Statistics() if into is None else into
    token = _collectors.set((*_collectors.get(), statistics))
    try:
        yield statistics
    finally:
        _collectors.reset(token)
