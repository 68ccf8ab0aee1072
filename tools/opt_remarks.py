"""Remarks as cuvil-opt's options ask for them: as diagnostics on the way, or kept for a file or another format."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cuvil.errors import SourceTexts, render
from cuvil.instrument import remarks
from cuvil.instrument.remarks import KINDS, Remark, RemarkFilter
from cuvil.tools.opt_diagnostics import Sink


@dataclass
class RemarkReport:
    """Which remarks are wanted, and those kept so far. Raises `CuvilError` for a malformed filter."""

    options: argparse.Namespace
    sources: SourceTexts
    kept: list[Remark] = field(default_factory=list[Remark])
    wanted: RemarkFilter | None = None

    def __post_init__(self) -> None:
        texts = list(self.options.remarks_filter)
        for kind in KINDS:
            texts += [f"{kind}={text}" for text in getattr(self.options, f"remarks_filter_{kind}")]
        if texts or self.options.remarks_output_file:
            # A file asks for remarks too: without a filter, for all of them.
            self.wanted = RemarkFilter.parse(texts or [""])

    @property
    def is_immediate(self) -> bool:
        """True if remarks are diagnostics, shown when they are made."""
        return self.options.remark_format == "text" and not self.options.remarks_output_file

    @contextmanager
    def listening(self, sink: Sink) -> Generator[None]:
        """Take the wanted remarks of the `with` block."""
        wanted = self.wanted
        if wanted is None:
            yield
            return

        def listener(remark: Remark) -> None:
            if not wanted.takes(remark):
                return
            if self.is_immediate:
                sink.report(remark.diagnostic())
            else:
                self.kept.append(remark)

        with remarks.listening(listener):
            yield

    def report(self) -> str | None:
        """The kept remarks in the format asked for; None if they were shown on the way, or not wanted."""
        if self.wanted is None or self.is_immediate:
            return None
        match self.options.remark_format:
            case "json":
                return remarks.to_json(self.kept)
            case "yaml":
                return remarks.to_yaml(self.kept)
            case _:
                return "".join(render(remark.diagnostic(), self.sources) + "\n" for remark in self.kept)
