"""Random programs in bulk: eager PyTorch, the interpreter and native code must agree on every one.

    python -m tests.program_properties --count 20000 --seed 1 --jobs 2

Programs come from hypothesis in chunks, each with a seed of its own, so that a run says the same again. A program that
fails is made small and printed as a script of its own. The summary is JSON: `{"programs": 20000,
"agreed": ..., "refused": ..., "invalid": ..., "failed": 0, ...}`; the exit status is 1 if any failed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

CHUNK = 100
MOST_REDUCED = 5
"""Failures of a chunk that are made small and printed; the others are counted."""

_PER_PROCESS = 10
"""Chunks that one process does, before a fresh one frees what code and caches it holds."""


@dataclass
class Counts:
    """How many programs became what, why some were refused, and those that failed."""

    programs: int = 0
    agreed: int = 0
    refused: int = 0
    invalid: int = 0
    failed: int = 0
    refusals: dict[str, int] = field(default_factory=dict[str, int])
    failures: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass
class ChunkResult(Counts):
    """What became of the programs of one chunk; `hashes` tell equal programs."""

    hashes: list[bytes] = field(default_factory=list[bytes])


@dataclass
class Summary(Counts):
    """What became of programs."""

    distinct: int = 0
    seconds: float = 0.0

    def add(self, other: Counts) -> None:
        """Count a chunk's programs in."""
        for name in ("programs", "agreed", "refused", "invalid", "failed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for reason, count in other.refusals.items():
            self.refusals[reason] = self.refusals.get(reason, 0) + count
        self.failures += other.failures


def run_chunk(seed: int, number: int, size: int) -> ChunkResult:
    """Generate and check `size` programs; those of the same seed and number are the same."""
    import hypothesis
    from hypothesis import HealthCheck, Phase

    from tests.programs.check import Wrong, check
    from tests.programs.generator import Program, programs
    from tests.programs.reduction import reduced

    result = ChunkResult()
    refusals: Counter[str] = Counter()
    found: dict[str, Wrong] = {}

    # Failures are noted and not raised, so that a chunk goes on after one; `reduced` makes them small.
    @hypothesis.seed(seed * 1_000_003 + number)
    @hypothesis.settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @hypothesis.given(programs())
    def every_program(program: Program) -> None:
        result.programs += 1
        result.hashes.append(hashlib.blake2b(repr(program).encode(), digest_size=8).digest())
        try:
            outcome = check(program)
        except Wrong as wrong:
            result.failed += 1
            found.setdefault(_kind_of(wrong.reason), wrong)
            return
        setattr(result, outcome.kind, getattr(result, outcome.kind) + 1)
        if outcome.kind != "agreed":
            refusals[f"{outcome.kind}: {_kind_of(outcome.reason)}"] += 1

    every_program()
    for wrong in list(found.values())[:MOST_REDUCED]:
        small = reduced(wrong)
        result.failures.append(
            {"chunk": number, "reason": small.reason, "script": small.program.script(small.special, small.reason)}
        )
    result.refusals = dict(refusals)
    return result


def _kind_of(reason: str) -> str:
    """A refusal without the numbers in it, so that like ones are counted together."""
    return "".join("#" if letter.isdigit() else letter for letter in reason.partition("\n")[0])[:160]


def _worker(arguments: tuple[int, int, int]) -> ChunkResult:
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    torch.set_num_threads(1)
    return run_chunk(*arguments)


def run(count: int, seed: int, jobs: int, show: bool) -> Summary:
    """Check `count` programs in `jobs` processes."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    summary, started, hashes = Summary(), time.perf_counter(), set[bytes]()
    chunks = [(seed, number, min(CHUNK, count - number * CHUNK)) for number in range(-(-count // CHUNK))]
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, maxtasksperchild=_PER_PROCESS) as pool:
        for chunk in pool.imap_unordered(_worker, chunks):
            summary.add(chunk)
            hashes.update(chunk.hashes)
            for failure in chunk.failures:
                print(f"\n# chunk {failure['chunk']} of seed {seed}\n{failure['script']}\n", flush=True)
            if show:
                _progress(summary, count, time.perf_counter() - started)
    summary.distinct = len(hashes)
    summary.seconds = round(time.perf_counter() - started, 1)
    return summary


def _progress(summary: Summary, count: int, seconds: float) -> None:
    done = min(1.0, summary.programs / count)
    left = seconds / done - seconds if done else 0.0
    bar = "#" * int(done * 30)
    sys.stderr.write(
        f"\r[{bar:<30}] {summary.programs}/{count} programs, {summary.failed} failed, {summary.refused} refused, "
        f"{left:.0f} s left  "
    )
    sys.stderr.flush()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.program_properties", description="Random programs in bulk")
    parser.add_argument("--count", type=int, default=1000, help="programs to generate (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other programs (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--output", help="file for the summary (default: standard output)")
    given = parser.parse_args()
    summary = run(given.count, given.seed, given.jobs, sys.stderr.isatty())
    ordered = dict(sorted(summary.refusals.items(), key=lambda item: -item[1]))
    text = json.dumps({"seed": given.seed, **asdict(summary), "refusals": ordered}, indent=2)
    if given.output:
        with open(given.output, "w") as file:
            file.write(text + "\n")
    else:
        print(text)
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
