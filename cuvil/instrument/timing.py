"""Wall-clock time of passes and of whatever else runs in a `scope`, as a tree or a flat list, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from cuvil.instrument.base import Instrument

if TYPE_CHECKING:
    from cuvil.instrument.base import PassRun

Display: TypeAlias = Literal["tree", "list"]
Format: TypeAlias = Literal["text", "json"]
_RULE = "===" + "-" * 73 + "==="


@dataclass
class Timer:
    """Time spent under a name, and in what ran inside it."""

    name: str
    seconds: float = 0.0
    runs: int = 0
    children: dict[object, Timer] = field(default_factory=dict[object, "Timer"])

    def child(self, key: object, name: str) -> Timer:
        """The child timer for `key`, made if need be."""
        return self.children.setdefault(key, Timer(name))

    def total(self) -> float:
        """The sum over the children."""
        return sum(child.seconds for child in self.children.values())

    def flat(self) -> Iterator[Timer]:
        """All timers below this one."""
        for child in self.children.values():
            yield child
            yield from child.flat()


@dataclass
class Timing(Instrument):
    """Measures passes. A pass that runs nested on several operations is one line: the sum over all of them."""

    root: Timer = field(default_factory=lambda: Timer("root"))
    _started: float = field(default_factory=perf_counter)
    _pass_started: float = 0.0

    @contextmanager
    def scope(self, name: str) -> Generator[None]:
        """Measure the `with` block under `name`."""
        start = perf_counter()
        try:
            yield
        finally:
            self._add(self.root.child(name, name), perf_counter() - start)

    def before_pass(self, run: PassRun) -> None:
        self._pass_started = perf_counter()

    def after_pass(self, run: PassRun) -> None:
        self._record(run)

    def on_failure(self, run: PassRun, error: Exception) -> None:
        self._record(run)

    def report(self, display: Display = "tree", output_format: Format = "text") -> str:
        """What was measured, in order of execution (`tree`) or by time over all runs of a pass (`list`)."""
        total = perf_counter() - self._started
        timers = list(self.root.children.values()) if display == "tree" else _merged(self.root)
        rest = Timer("Rest", max(total - self.root.total(), 0.0))
        timers += [rest, Timer("Total", total)]
        if output_format == "json":
            return json.dumps([_as_dict(timer, total, display) for timer in timers], indent=2) + "\n"
        return _text_report(timers, total, display)

    def _record(self, run: PassRun) -> None:
        timer = self.root
        for anchor in run.anchors:
            pipeline = f"'{anchor}' Pipeline"
            timer = timer.child(pipeline, pipeline)
        seconds = perf_counter() - self._pass_started
        self._add(timer.child(id(run.pass_), run.name), seconds)
        node = self.root
        for anchor in run.anchors:
            node = node.children[f"'{anchor}' Pipeline"]
            self._add(node, seconds)

    @staticmethod
    def _add(timer: Timer, seconds: float) -> None:
        timer.seconds += seconds
        timer.runs += 1


def _merged(root: Timer) -> list[Timer]:
    """Leaf timers added up by name, longest first."""
    merged = Timer("root")
    for timer in root.flat():
        if not timer.children:
            sum_ = merged.child(timer.name, timer.name)
            sum_.seconds += timer.seconds
            sum_.runs += timer.runs
    return sorted(merged.children.values(), key=lambda timer: -timer.seconds)


def _text_report(timers: list[Timer], total: float, display: Display) -> str:
    title = "... Execution time report ..."
    lines = [_RULE, title.center(len(_RULE)).rstrip(), _RULE, f"  Total Execution Time: {total:.4f} seconds", ""]
    lines.append("  ----Wall Time----  ----Name----")
    for timer in timers:
        lines += _text_lines(timer, total, 0 if display == "list" else 1, 0)
    return "\n".join(lines) + "\n"


def _text_lines(timer: Timer, total: float, nested: int, depth: int) -> list[str]:
    share = 100.0 * timer.seconds / total if total else 0.0
    lines = [f"  {timer.seconds:8.4f} ({share:5.1f}%)  {'  ' * depth}{timer.name}"]
    for child in timer.children.values() if nested else ():
        lines += _text_lines(child, total, nested, depth + 1)
    return lines


def _as_dict(timer: Timer, total: float, display: Display) -> dict[str, object]:
    share = 100.0 * timer.seconds / total if total else 0.0
    result: dict[str, object] = {"wall": {"duration": timer.seconds, "percentage": share}, "name": timer.name}
    if timer.runs > 1:
        result["runs"] = timer.runs
    if display == "tree" and timer.children:
        result["passes"] = [_as_dict(child, total, display) for child in timer.children.values()]
    return result
