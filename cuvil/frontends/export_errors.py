"""What torch.export says of a model that it cannot trace, in a few words, at the line of the model that is at fault."""

from __future__ import annotations

import io
import itertools
import logging
import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr
from types import TracebackType

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

import cuvil.errors
from cuvil.errors import SourceLocation, UnsupportedError
from cuvil.frontends.source.syntax import SourceError

LONGEST_MESSAGE = 300
_TALKATIVE = ("torch.fx.experimental.symbolic_shapes", "torch._subclasses.fake_tensor", "torch.export._trace")
"""Loggers that say at length what the exception says."""


def explained(error: Exception, model: str) -> UnsupportedError:
    """The error to raise in place of what torch.export raised for a model of this name."""
    if isinstance(error, UnsupportedError):
        return error
    place = _user_place(error.__traceback__)
    if isinstance(error, GuardOnDataDependentSymNode):
        message = (
            f"{model} takes its way by the values of tensors here, which torch.export cannot trace; write the branch "
            "or loop in a function under @cuvil.compile, or with torch.cond or torch.while_loop"
        )
    else:
        message = f"torch.export cannot trace {model}: {_shortened(str(error)) or type(error).__name__}"
    return UnsupportedError(message) if place is None else SourceError(message, place)


@contextmanager
def quiet() -> Generator[None]:
    """A context in which torch does not log what its exceptions say anyway."""
    said = io.StringIO()
    try:
        with unlogged(), redirect_stderr(said):
            yield
    except GuardOnDataDependentSymNode:
        said = io.StringIO()  # torch prints its half-made graph
        raise
    finally:
        sys.stderr.write(said.getvalue())


@contextmanager
def unlogged() -> Generator[None]:
    """A context without the log lines of torch that say what its exceptions say; other output is as it is."""
    loggers = [logging.getLogger(name) for name in _TALKATIVE]
    for logger in loggers:
        logger.addFilter(_nothing)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_nothing)


def _nothing(record: logging.LogRecord) -> bool:
    return False


def _shortened(message: str) -> str:
    """The first paragraph, or as much of it as is worth reading; of dynamo's the error that it met."""
    met = re.search(r"""got \w+\((['"])(.*?)\1\)""", message)
    message = met[2] if met else message
    first = " ".join(message.strip().partition("\n\n")[0].split())
    return first if len(first) <= LONGEST_MESSAGE else first[:LONGEST_MESSAGE] + " ..."


def _user_place(trace: TracebackType | None) -> SourceLocation | None:
    """The innermost place outside of torch and of this package that an exception passed through."""
    found: SourceLocation | None = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((*_FOLDERS, "<")):
            line, end_line, column, end_column = _position(trace)
            length = end_column - column if end_line == line else 1
            found = SourceLocation(file, line, column + 1, max(length, 1))
        trace = trace.tb_next
    return found


def _position(trace: TracebackType) -> tuple[int, int, int, int]:
    """First and last line, first and last column of the instruction that a frame stands at."""
    positions = itertools.islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None)
    line, end_line, column, end_column = next(positions, (None, None, None, None))
    return line or trace.tb_lineno, end_line or trace.tb_lineno, column or 0, end_column or 0


_FOLDERS = tuple(os.path.dirname(os.path.abspath(str(each.__file__))) + os.sep for each in (torch, cuvil.errors))
