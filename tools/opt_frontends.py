"""Input forms of cuvil-opt other than MLIR text: what xDSL and plugins read."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

from cuvil import universe
from cuvil.errors import UserError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

Frontend: TypeAlias = "Callable[[Context, str, str], ModuleOp]"


def find_frontend(name: str | None, path: str) -> Frontend | None:
    """The function that reads `path`: the one asked for, else by the file's extension; None for MLIR text.

    Raises `UserError` if the one asked for does not exist.
    """
    if name in ("mlir", None) and os.path.splitext(path)[1] in ("", ".mlir"):
        return None
    known = {**universe.XDSL_UNIVERSE.all_frontends, **universe.plugins().all_frontends}
    if name is None:
        name = os.path.splitext(path)[1].removeprefix(".")
        if name not in known:
            return None  # whatever the file is called, MLIR text is what this tool is for
    if name == "mlir":
        return None
    if name not in known:
        raise UserError(f"unknown frontend '{name}'; known: {', '.join(sorted(known))}")
    frontend = known[name]()()
    return lambda context, text, file: frontend.parse(context, BytesIO(text.encode()), file)
