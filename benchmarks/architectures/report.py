"""Showing what came of the architectures: a table on a terminal, and docs/models.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.architectures.table import ARCHITECTURES, KIND_OF
from benchmarks.report import RESULTS, ROOT

JSON = RESULTS / "architectures.json"
DOCUMENT = ROOT / "docs" / "models.md"

Row = dict[str, Any]
"""One architecture: name, kind, network, dtype, note, and the verdict of each door."""

_DOORS = {"export": "torch.export", "torch_compile": "torch.compile"}
_COLORS = {"matched": "green", "refused": "yellow", "wrong": "red", "failed": "red"}
_VIEWS = ("share", "strides")
"""Words of the remarks on views, which PyTorch makes of what compiled code gives."""


def row_of(name: str, dtype: str, verdicts: Mapping[str, Any]) -> Row:
    """The plain data of one architecture."""
    architecture = ARCHITECTURES[name]
    return {
        "name": name,
        "kind": KIND_OF[name],
        "network": architecture.network,
        "dtype": dtype,
        "note": architecture.note,
        **verdicts,
    }


def left_ops(verdict: Mapping[str, Any]) -> list[str]:
    """What PyTorch runs besides views: ops that Cuvil lacks, and whole graphs."""
    return [left for left in verdict["left"] if not any(word in left for word in _VIEWS)]


def table(rows: Sequence[Row]) -> Table:
    """One line an architecture, one group of columns a door."""
    doors = [door for door in _DOORS if door in rows[0]]
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    shown.add_column("architecture", no_wrap=True)
    shown.add_column("dtype", no_wrap=True)
    for door in doors:
        shown.add_column(_DOORS[door])
        shown.add_column("s", justify="right")
        shown.add_column("error", justify="right", no_wrap=True)
        shown.add_column("eager's", justify="right", no_wrap=True)
    kind = ""
    for row in rows:
        if (row["kind"], row["dtype"]) != kind and kind:
            shown.add_section()
        kind = (row["kind"], row["dtype"])
        cells = (cell for door in doors for cell in _cells(row[door]))
        shown.add_row(row["name"], row["dtype"], *cells)
    return shown


def _cells(verdict: Mapping[str, Any]) -> Iterator[str]:
    yield f"[{_COLORS[verdict['verdict']]}]{_words(verdict)}[/]"
    yield f"{verdict['compile_seconds']:.1f}" if verdict["compile_seconds"] else ""
    for error in (verdict["error"], verdict["eager_error"]):
        yield f"{error:.0e}" if error else ""


def _words(verdict: Mapping[str, Any]) -> str:
    """A verdict with what is to be said about it."""
    said = verdict["verdict"]
    if verdict["graphs"] > 1:
        said += f", {verdict['graphs']} graphs"
    if ops := left_ops(verdict):
        said += f", {len(ops)} left to PyTorch"
    return f"{said}: {verdict['reason']}" if verdict["reason"] else said


def summary(rows: Sequence[Row]) -> list[str]:
    """How many came through each door, in each dtype."""
    lines: list[str] = []
    for dtype in dict.fromkeys(row["dtype"] for row in rows):
        for door, title in _DOORS.items():
            verdicts = [row[door] for row in rows if row["dtype"] == dtype and door in row]
            if not verdicts:
                continue
            counts = {word: sum(each["verdict"] == word for each in verdicts) for word in _COLORS}
            whole = sum(each["verdict"] == "matched" and not left_ops(each) for each in verdicts)
            named = ", ".join(f"{count} {word}" for word, count in counts.items())
            lines.append(f"{title}, {dtype}: {named} of {len(verdicts)}; {whole} without an op left to PyTorch")
    return lines


# -- docs/models.md ----------------------------------------------------------------------------------------------------

_INTRODUCTION = """\
# Models

Architectures of `transformers`, each in a tiny size with random weights, through both doors. Nothing is downloaded, and
this page is written by the command that compiles and compares them:

```text
.venv/bin/python -m benchmarks.architectures               this page and benchmarks/results/architectures.json
.venv/bin/python -m benchmarks.architectures bert llama    some of them, on the terminal alone
```

Each model runs in a process of its own. One of them by hand, `kwargs` being what it is called with:

```python
import cuvil
from benchmarks.architectures.table import ARCHITECTURES
from benchmarks.measure import relative_error

model, kwargs = ARCHITECTURES["distilbert"].load()
compiled = cuvil.compile(model, (), kwargs=kwargs)
assert relative_error(compiled(**kwargs).logits, model(**kwargs).logits) < 1e-5
```

**Matched** means: called with the inputs that it was compiled with, and with others, every output (there are no
labels, so no loss) has eager PyTorch's shape, dtype and NaNs, and its relative norm error against eager PyTorch in
float64 is at most 3 times that of eager float32 (1.5 times that of eager bfloat16), or at most 1e-6 (2e-3) where eager
happens to be exact. **Refused** is an error that names what cannot be compiled. Through torch.compile nothing is
refused: what Cuvil lacks is left to PyTorch, with a remark. Decoders run with `use_cache=False`; caches are part of
`tests/test_generation.py`. Attention and experts are what each network takes by itself (`sdpa` where it has it).

The tables have each model's largest error of an output over eager's error of the same, and the seconds that compilation
took (of torch.compile: the first call) beside other work on the machine: they are no benchmark.
"""


def as_markdown(rows: Sequence[Row]) -> str:
    """The page of docs that shows these results."""
    parts = [_INTRODUCTION, *(f"- {line}" for line in summary(rows)), ""]
    whole = [row for row in rows if row["dtype"] == "float32"]
    for kind in dict.fromkeys(row["kind"] for row in whole):
        parts += [f"## {kind.capitalize()}", "", *_markdown_table([row for row in whole if row["kind"] == kind]), ""]
    half = [row for row in rows if row["dtype"] == "bfloat16"]
    if half:
        parts += ["## In bfloat16", "", *_markdown_table(half), ""]
    parts += [*_listed("## Refused", rows, _refusals), *_listed("## Left to PyTorch by torch.compile", rows, _left)]
    return "\n".join(parts).rstrip() + "\n"


def _markdown_table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| architecture | network | torch.export | s | error | torch.compile | s | error | |"
    yield "| --- | --- | --- | ---: | ---: | --- | ---: | ---: | --- |"
    for row in rows:
        cells = (cell for door in _DOORS for cell in _markdown_cells(row[door]))
        yield f"| {row['name']} | `{row['network']}` | {' | '.join(cells)} | {row['note']} |"


def _markdown_cells(verdict: Mapping[str, Any]) -> Iterator[str]:
    yield _words({**verdict, "reason": ""})
    yield f"{verdict['compile_seconds']:.1f}" if verdict["compile_seconds"] else ""
    yield f"{verdict['error'] / verdict['eager_error']:.1f}" if verdict["eager_error"] else ""


def _listed(title: str, rows: Sequence[Row], lines_of: Any) -> list[str]:
    lines = [line for row in rows for line in lines_of(row)]
    return [title, "", *dict.fromkeys(lines), ""] if lines else []


def _refusals(row: Row) -> Iterator[str]:
    for door, title in _DOORS.items():
        if row[door]["verdict"] != "matched":
            yield f"- {row['name']} ({row['dtype']}), {title}: {row[door]['verdict']}: {row[door]['reason']}"


def _left(row: Row) -> Iterator[str]:
    for left in dict.fromkeys(left_ops(row["torch_compile"])):
        yield f"- {row['name']} ({row['dtype']}): {left}"
