"""Warnings: the compiler did as asked, but the user should know something.

    warnings.warn("gather indices are not checked at run time", op=op)

Inside `listening` a warning goes to the listener as a diagnostic; elsewhere it is a Python `CuvilWarning`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from cuvil.errors import Diagnostic, Locatable, source_location

Listener: TypeAlias = Callable[[Diagnostic], None]
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("cuvil_warning_listeners", default=())


class CuvilWarning(UserWarning):
    """A warning of the compiler."""


def warn(message: str, op: Locatable = None) -> None:
    """Warn about `op` (an operation or a location): to the listeners, or through Python's `warnings`."""
    diagnostic = Diagnostic("warning", message, source_location(op))
    listeners = _listeners.get()
    for listener in listeners:
        listener(diagnostic)
    if not listeners:
        place = f"{diagnostic.location}: " if diagnostic.location else ""
        warnings.warn(place + message, CuvilWarning, stacklevel=2)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Call `listener` with every warning given inside the `with` block."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)
