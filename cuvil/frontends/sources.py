"""Where in the user's source an operation of a traced graph comes from.

torch.export records a stack trace with every node. The innermost frame outside of torch is the line of the model (or
of the library that defines it) that made the node; the path of the nn.Module whose forward it stands in names it:
`loc("encoder.layer.0.attention"("modeling_bert.py":212:9))`.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, NameLoc, StringAttr

_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)', re.MULTILINE)


def location_of_node(meta: Mapping[str, Any]) -> LocationAttr:
    """The location of a node with this `meta`: its source line, inside the name of its module."""
    trace: str = meta.get("stack_trace") or ""
    return _location(trace, module_path(meta))


def module_path(meta: Mapping[str, Any]) -> str:
    """The dotted path of the nn.Module that a node belongs to; empty for the outermost one."""
    stack: Mapping[str, Any] = meta.get("nn_module_stack") or {}
    if not stack:
        return ""
    innermost = list(stack.values())[-1]
    path = innermost[0] if isinstance(innermost, tuple) else ""
    return path.removeprefix("L['self'].")


@lru_cache(maxsize=4096)
def _location(trace: str, path: str) -> LocationAttr:
    place = _innermost_frame(trace)
    if place is None:
        return NameLoc(StringAttr(path), UNKNOWN_LOC) if path else UNKNOWN_LOC
    file, line = place
    text = linecache.getline(file, line)
    column = len(text) - len(text.lstrip()) + 1 if text.strip() else 1
    location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
    return NameLoc(StringAttr(path), location) if path else location


def _innermost_frame(trace: str) -> tuple[str, int] | None:
    frames = [(file, int(line)) for file, line in _FRAME.findall(trace)]
    own = [frame for frame in frames if not frame[0].startswith(_torch_folder())]
    return own[-1] if own else (frames[-1] if frames else None)


@lru_cache(maxsize=1)
def _torch_folder() -> str:
    import torch

    return os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
