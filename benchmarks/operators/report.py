"""What a run found: totals by op, dtype and sample, as tables and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.report import write_json

COUNTED = ("passed", "refused", "wrong")


@dataclass
class Results:
    """Rows of a run: one for each op and dtype."""

    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def add(self, row: dict[str, Any]) -> None:
        """Take a finished task's row."""
        self.rows.append(row)

    @property
    def wrong(self) -> list[dict[str, Any]]:
        """The rows with wrong samples."""
        return [row for row in self.rows if row["wrong"]]

    def samples(self, dtype: str | None = None) -> Counter[str]:
        """Samples by outcome."""
        total: Counter[str] = Counter()
        for row in self.rows:
            if dtype is None or row["dtype"] == dtype:
                total.update(row["outcomes"])
        return total

    def by_op(self) -> dict[str, Counter[str]]:
        """Samples by outcome, for each op."""
        found: dict[str, Counter[str]] = {}
        for row in self.rows:
            found.setdefault(row["op"], Counter()).update(row["outcomes"])
        return dict(sorted(found.items()))

    def ops(self) -> Counter[str]:
        """Ops by what became of their samples."""
        return Counter(standing(outcomes) for outcomes in self.by_op().values())

    def reasons(self) -> dict[str, Counter[str]]:
        """For each op, why samples were refused or excluded."""
        found: dict[str, Counter[str]] = {}
        for row in self.rows:
            for reasons in row["reasons"].values():
                found.setdefault(row["op"], Counter()).update(reasons)
        return dict(sorted(found.items()))


def standing(outcomes: Counter[str]) -> str:
    """What an op is by its samples: wrong if one is, passed if all are, partly if some, refused or excluded."""
    if outcomes["wrong"]:
        return "wrong"
    if outcomes["passed"]:
        return "partly" if outcomes["refused"] else "passed"
    return "refused" if outcomes["refused"] else "excluded"


def ratio_passed(outcomes: Counter[str]) -> float:
    """The share of passed samples among those that are counted."""
    counted = sum(outcomes[name] for name in COUNTED)
    return outcomes["passed"] / counted if counted else 1.0


def summary_table(results: Results) -> Table:
    """Samples by dtype and outcome, and ops."""
    table = Table(title="The operator surface: samples of PyTorch's OpInfo database", title_justify="left")
    table.add_column("dtype")
    for name in (*COUNTED, "excluded", "share passed"):
        table.add_column(name, justify="right")
    dtypes = list(dict.fromkeys(row["dtype"] for row in results.rows))
    for dtype in dtypes:
        _add_row(table, dtype, results.samples(dtype))
    table.add_section()
    _add_row(table, "samples", results.samples())
    ops = results.ops()
    table.add_section()
    partly = f"{ops['passed']} + {ops['partly']} in part"
    table.add_row("ops", partly, str(ops["refused"]), str(ops["wrong"]), str(ops["excluded"]), "")
    return table


def _add_row(table: Table, title: str, outcomes: Counter[str]) -> None:
    counts = [str(outcomes[name]) for name in (*COUNTED, "excluded")]
    table.add_row(title, *counts, f"{100 * ratio_passed(outcomes):.1f} %")


def wrong_table(results: Results) -> Table:
    """The first wrong sample of each op and dtype."""
    table = Table(title="Wrong", title_justify="left")
    for name in ("op", "dtype", "samples", "the first"):
        table.add_column(name, overflow="fold")
    for row in results.wrong:
        first = row["wrong"][0]
        table.add_row(row["op"], row["dtype"], str(len(row["wrong"])), f"{first['sample']}: {first['reason']}")
    return table


def write_results(path: Path, results: Results, dtypes: Sequence[str], limit: int | None, note: str = "") -> None:
    """The results as JSON: totals, and for each op its outcomes and the reasons of refusals."""
    reasons = results.reasons()
    ops = {
        op: {"standing": standing(outcomes), **dict(outcomes), "reasons": dict(reasons.get(op, Counter()))}
        for op, outcomes in results.by_op().items()
    }
    totals = results.samples()
    found = {
        "dtypes": list(dtypes),
        "limit": limit,
        "note": note,
        "samples": dict(totals),
        "share_passed": ratio_passed(totals),
        "ops": dict(results.ops()),
        "operators": ops,
        "wrong": [{key: row[key] for key in ("op", "dtype", "wrong")} for row in results.wrong],
    }
    write_json(path, [found])
