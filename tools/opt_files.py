"""Reading the input and writing outputs of cuvil-opt."""

from __future__ import annotations

import os
import sys

from cuvil.errors import UserError


def read_input(path: str) -> tuple[str, str]:
    """The name of the input, as diagnostics show it, and its text; `-` is standard input. Raises `UserError`."""
    try:
        if path == "-":
            return "<stdin>", sys.stdin.buffer.read().decode()
        with open(path, "rb") as file:
            return path, file.read().decode()
    except OSError as error:
        raise UserError(f"cannot open '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        culprit = error.object[error.start]
        raise UserError(f"'{path}' is not UTF-8 text: byte {error.start} is {culprit:#04x}") from error


def write_file(path: str, text: str) -> None:
    """Write a file in one step, so that nobody ever sees half of it. Raises `UserError`."""
    path = os.path.realpath(path)
    partial = f"{path}.{os.getpid()}.tmp"
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            partial = path  # a device or a pipe cannot be replaced
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
        if partial != path:
            os.replace(partial, path)
    except OSError as error:
        raise UserError(f"cannot write '{path}': {error.strerror}") from error
