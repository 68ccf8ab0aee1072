"""docs/operators.md: what of PyTorch's operators can be compiled, written from the results of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS, ROOT

RESULT_FILE = RESULTS / "operators.json"
PAGE = ROOT / "docs" / "operators.md"

_HEAD = """\
# Operators

<!-- Written by `python -m benchmarks.operators --page` from benchmarks/results/operators.json. -->

PyTorch's own tests have a database of operators, OpInfo, with samples of each: inputs and arguments, for each dtype
that the operator takes. `python -m benchmarks.operators` compiles samples natively, one `nn.Module` each, and compares
the results with eager PyTorch:

- dtypes and shapes are eager's; integers and bools are equal; NaN and infinities stand where eager's stand;
- the error of other floats against eager in float64, as a relative norm, is at most three times eager's own error plus
  four roundings of the dtype;
- what is not compiled is refused by an error that names the operator (an internal error, another exception, a crash or
  no result within a minute counts as wrong).

Not counted, but checked to be refused: samples that are random (eager PyTorch advances its generator), complex, sparse
or quantized. Operators that compute gradients are left out. Of memory that PyTorch leaves uninitialized only dtype and
shape are compared; of several places with equal values (`topk`, `median`, ...) any may be given.
"""


def page(results: Mapping[str, Any]) -> str:
    """The whole page for the results of a run."""
    samples, ops = results["samples"], results["ops"]
    counted = sum(samples.get(name, 0) for name in ("passed", "refused", "wrong"))
    limit = results["limit"]
    which = "every sample" if limit is None else f"at most {limit} samples of each operator and dtype, spread evenly"
    parts = [
        _HEAD,
        f"The run: {which}, for {', '.join(results['dtypes'])}. {results['note']}".rstrip() + "\n",
        "| | passed | refused | wrong | not counted |\n| --- | --- | --- | --- | --- |",
        f"| samples | {samples.get('passed', 0)} ({100 * results['share_passed']:.1f} % of {counted}) "
        f"| {samples.get('refused', 0)} | {samples.get('wrong', 0)} | {samples.get('excluded', 0)} |",
        f"| operators | {ops.get('passed', 0)}, and {ops.get('partly', 0)} in part | {ops.get('refused', 0)} "
        f"| {ops.get('wrong', 0)} | {ops.get('excluded', 0)} |\n",
    ]
    operators: Mapping[str, Mapping[str, Any]] = results["operators"]
    for standing, title in (
        ("refused", "Refused"),
        ("partly", "Refused in part"),
        ("wrong", "Wrong"),
        ("excluded", "Not counted"),
    ):
        rows = [(name, record) for name, record in operators.items() if record["standing"] == standing]
        if rows:
            parts += [f"## {title}\n", _table(rows), ""]
    passed = [f"`{name}`" for name, record in operators.items() if record["standing"] == "passed"]
    parts += ["## Passed\n", _wrapped(passed), ""]
    return "\n".join(parts)


def _table(rows: list[tuple[str, Mapping[str, Any]]]) -> str:
    lines = ["| operator | samples passed | refused | why |", "| --- | --- | --- | --- |"]
    for name, record in rows:
        reasons: Mapping[str, int] = record["reasons"]
        why = max(reasons, key=lambda reason: reasons[reason]) if reasons else ""
        why = " ".join(why.replace("|", "\\|").split("(")[0].split())[:140]
        lines.append(f"| `{name}` | {record.get('passed', 0)} | {record.get('refused', 0)} | {why} |")
    return "\n".join(lines)


def _wrapped(names: list[str], width: int = 118) -> str:
    lines = [""]
    for name in names:
        addition = f"{name}, "
        if len(lines[-1]) + len(addition) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += addition
    return "\n".join(lines).rstrip(", ") + "\n"


def read_results(path: Path = RESULT_FILE) -> Mapping[str, Any]:
    """The committed results."""
    return json.loads(path.read_text())["results"][0]


def write_page() -> None:
    """Write docs/operators.md."""
    PAGE.write_text(page(read_results()))
