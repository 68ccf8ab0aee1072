"""Statistics: counters that passes keep about their work, such as kernels made or loads removed.

    statistics.count("fuse", "kernels", 3)

Counters are gathered only inside `collect`; outside it `count` is a context-variable read.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cuvil.instrument.base import Instrument

if TYPE_CHECKING:
    from cuvil.instrument.base import PassRun

_RULE = "===" + "-" * 73 + "==="


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


class PassStatistics(Instrument):
    """Gathers the counters of every pass, and how many operations there are before and after it."""

    def __init__(self) -> None:
        self.by_pass: dict[int, tuple[PassRun, Statistics]] = {}
        self._stack = ExitStack()

    def before_pass(self, run: PassRun) -> None:
        # One entry for a step of the pipeline, even if it runs nested on several operations.
        _, statistics = self.by_pass.setdefault(id(run.pass_), (run, Statistics()))
        statistics.add(run.name, "operations-before", _operation_count(run))
        self._stack.enter_context(collect(statistics))

    def after_pass(self, run: PassRun) -> None:
        self._stack.close()
        self.by_pass[id(run.pass_)][1].add(run.name, "operations-after", _operation_count(run))

    def on_failure(self, run: PassRun, error: Exception) -> None:
        self._stack.close()

    def merged(self) -> Statistics:
        """All counters, added up by pass name."""
        total = Statistics()
        for _, statistics in self.by_pass.values():
            for pass_name, counters in statistics.counters.items():
                for counter, value in counters.items():
                    total.add(pass_name, counter, value)
        return total

    def report(self, display: Literal["pipeline", "list"] = "pipeline") -> str:
        """The counters as text: in pipeline order, or added up and sorted by pass name."""
        lines = [_RULE, "... Pass statistics report ...".center(len(_RULE)).rstrip(), _RULE]
        if display == "list":
            for pass_name, counters in sorted(self.merged().counters.items()):
                lines += [pass_name, *_counter_lines(counters, "")]
            return "\n".join(lines) + "\n"
        anchors: tuple[str, ...] = ()
        for run, statistics in self.by_pass.values():
            indent = "  " * len(run.anchors)
            if run.anchors != anchors:
                lines += [f"{'  ' * depth}'{anchor}' Pipeline" for depth, anchor in enumerate(run.anchors)]
                anchors = run.anchors
            for pass_name, counters in statistics.counters.items():
                lines += [f"{indent}{pass_name}", *_counter_lines(counters, indent)]
        return "\n".join(lines) + "\n"


def _counter_lines(counters: dict[str, int], indent: str) -> list[str]:
    width = max(len(str(value)) for value in counters.values())
    return [f"{indent}  (S) {value:>{width}} {counter}" for counter, value in sorted(counters.items())]


def _operation_count(run: PassRun) -> int:
    return sum(1 for _ in run.op.walk())
