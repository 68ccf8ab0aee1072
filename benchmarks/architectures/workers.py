"""Running checks in processes of their own: one that crashes or hangs takes no other with it.

Processes are forked from a server that has imported PyTorch, `transformers` and the compiler once, so that each starts
in a moment.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.progress import MofNCompleteColumn

from benchmarks.report import progress_line

_PRELOADED = ["torch", "torch._dynamo", "transformers", "cuvil.frontends.dynamo", "cuvil.lowering"]


@dataclass(frozen=True)
class Task:
    """One architecture through one door in one dtype."""

    name: str
    door: str
    dtype: str = "float32"

    def __str__(self) -> str:
        return f"{self.name} ({self.door.replace('_', '.')}, {self.dtype})"


@dataclass
class _Running:
    """A task at work."""

    task: Task
    process: Any
    result: Connection
    log: Path
    started: float = field(default_factory=time.monotonic)


def run_tasks(tasks: Sequence[Task], *, jobs: int, timeout: float) -> dict[Task, dict[str, Any]]:
    """The verdict of each task as plain data, `jobs` at a time; one that does not end in `timeout` seconds failed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    verdicts: dict[Task, dict[str, Any]] = {}
    waiting, running = list(reversed(tasks)), list[_Running]()
    with progress_line(MofNCompleteColumn()) as bar, TemporaryDirectory() as logs:
        line = bar.add_task("", total=len(tasks))
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_started(context, waiting.pop(), Path(logs)))
            bar.update(line, completed=len(verdicts), description=", ".join(str(each.task) for each in running))
            wait([each.result for each in running], timeout=1.0)
            for each in list(running):
                verdict = _ended(each, timeout)
                if verdict is not None:
                    verdicts[each.task] = verdict
                    running.remove(each)
                    if bar.disable:
                        place = f"{len(verdicts)}/{len(tasks)}"
                        print(f"{place} {each.task}: {verdict['verdict']} {verdict['reason']}", file=sys.stderr)
    return verdicts


def _started(context: Any, task: Task, logs: Path) -> _Running:
    result, sender = context.Pipe(duplex=False)
    log = logs / f"{task.name}-{task.door}-{task.dtype}"
    process = context.Process(target=_work, args=(task, sender, str(log)), daemon=True)
    process.start()
    sender.close()
    return _Running(task, process, result, log)


def _ended(running: _Running, timeout: float) -> dict[str, Any] | None:
    """The verdict of a task that is done, one way or another."""
    verdict: dict[str, Any] | None = None
    if running.result.poll():
        try:
            verdict = running.result.recv()
            running.process.join(10.0)
        except EOFError:
            running.process.join(10.0)
            verdict = _failure(f"exit code {running.process.exitcode}: {_last_words(running.log)}")
    elif time.monotonic() - running.started > timeout:
        verdict = _failure(f"not done after {timeout:.0f} s")
    if verdict is not None:
        running.process.kill()
        running.process.join()
        running.result.close()
    return verdict


def _failure(reason: str) -> dict[str, Any]:
    from benchmarks.architectures.check import FAILED, Verdict

    return Verdict(FAILED, reason).as_json()


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"


def _work(task: Task, sender: Connection, log: str) -> None:
    """In the process: check, send the verdict. What goes to stdout and stderr goes to the log."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(descriptor, sys.stdout.fileno())
    os.dup2(descriptor, sys.stderr.fileno())
    import torch

    from benchmarks.architectures.check import FAILED, Verdict, check
    from benchmarks.architectures.table import ARCHITECTURES

    try:
        verdict = check(ARCHITECTURES[task.name], task.door, getattr(torch, task.dtype))
    except Exception as error:
        verdict = Verdict(FAILED, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    sender.send(verdict.as_json())
    sender.close()
