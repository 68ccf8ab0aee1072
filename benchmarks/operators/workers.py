"""Samples in processes of their own, so that a crash or an endless loop is one sample's verdict and not the run's end.

A worker takes tasks (an op and a dtype) on stdin and writes a line of JSON as each sample starts and ends. The parent
kills a worker whose sample takes too long, notes the verdict, and lets a new one go on behind that sample.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

SAMPLE_SECONDS = 60.0
"""A sample that takes longer is wrong."""
TASKS_BEFORE_RENEWAL = 40
"""Code and torch's caches pile up in a process."""


@dataclass
class Task:
    """The samples of an op for a dtype: at most `limit`, spread evenly."""

    op: str
    dtype: str
    limit: int | None = None
    first: int = 0
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    reasons: dict[str, dict[str, int]] = field(default_factory=dict[str, "dict[str, int]"])
    wrong: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def note(self, number: int, outcome: str, reason: str) -> None:
        """Count a sample's verdict."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        if outcome == "wrong":
            self.wrong.append({"sample": number, "reason": reason})
        elif reason:
            reasons = self.reasons.setdefault(outcome, {})
            reasons[reason] = reasons.get(reason, 0) + 1

    def as_json(self) -> dict[str, Any]:
        """For a line of results."""
        return {
            "op": self.op,
            "dtype": self.dtype,
            "outcomes": self.outcomes,
            "reasons": self.reasons,
            "wrong": self.wrong,
        }


def run_tasks(tasks: Sequence[Task], processes: int, done: Callable[[Task], None]) -> None:
    """Check all tasks in `processes` workers; `done` hears of each as it is finished, in any order."""
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    failures: list[BaseException] = []
    told = threading.Lock()

    def report(task: Task) -> None:
        with told:
            done(task)

    def follow() -> None:
        try:
            _follow(waiting, report)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=follow, daemon=True) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _follow(waiting: queue.SimpleQueue[Task], done: Callable[[Task], None]) -> None:
    worker: _Worker | None = None
    try:
        while True:
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            while True:
                if worker is None or worker.tasks >= TASKS_BEFORE_RENEWAL:
                    if worker is not None:
                        worker.stop()
                    worker = _Worker()
                if worker.run(task):
                    break
                worker.stop()
                worker = None
            done(task)
    finally:
        if worker is not None:
            worker.stop()


class _Worker:
    """One process."""

    def __init__(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.operators.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.tasks = 0
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def run(self, task: Task) -> bool:
        """Check a task's samples from its first on; False if the process was lost on the way."""
        assert self.process.stdin is not None
        self.tasks += 1
        request = {"op": task.op, "dtype": task.dtype, "limit": task.limit, "first": task.first}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        current: int | None = None
        while True:
            try:
                line = self.lines.get(timeout=SAMPLE_SECONDS * (1 if current is not None else 3))
            except queue.Empty:
                line = None
            if not line:
                what = f"no result in {SAMPLE_SECONDS:.0f} s" if line is None else f"crash ({self._status()})"
                task.note(task.first if current is None else current, "wrong", what)
                task.first = (task.first if current is None else current) + 1
                return False
            if not line.startswith("{"):
                continue
            message = json.loads(line)
            if "done" in message:
                return True
            current = message["sample"]
            if "outcome" in message:
                task.first = message["sample"] + 1
                if message["outcome"]:
                    task.note(message["sample"], message["outcome"], message["reason"])

    def _status(self) -> int:
        self.stop()
        return self.process.returncode

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


# -- the worker's side -------------------------------------------------------------------------------------------------


def _serve() -> None:
    warnings.simplefilter("ignore")
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what ops print themselves is not for the parent

    def say(**message: Any) -> None:
        output.write(json.dumps(message) + "\n")
        output.flush()

    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        request = json.loads(line)
        _check_all(request, say)
        say(done=True)


def _check_all(request: dict[str, Any], say: Callable[..., None]) -> None:
    from benchmarks.operators.checking import Outcome, check
    from benchmarks.operators.samples import samples

    op, dtype, limit, first = (request[name] for name in ("op", "dtype", "limit", "first"))
    try:
        chosen = _spread(list(samples(op, dtype)), limit)
    except Exception as error:
        say(sample=first, outcome=Outcome.EXCLUDED, reason=f"no samples: {type(error).__name__}")
        return
    import torch

    state = torch.get_rng_state()
    for sample in chosen:
        if sample.number < first:
            continue
        say(sample=sample.number)
        torch.set_rng_state(state)
        verdict = check(sample)
        if verdict is None:
            say(sample=sample.number, outcome="", reason="")
        else:
            say(sample=sample.number, outcome=verdict.outcome, reason=verdict.reason)


def _spread(found: list[Any], limit: int | None) -> list[Any]:
    if limit is None or len(found) <= limit:
        return found
    return [found[place * len(found) // limit] for place in range(limit)]


if __name__ == "__main__":
    _serve()
