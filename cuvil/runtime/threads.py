"""The OpenMP runtime that compiled code runs its parallel loops on, and how many threads they may use.

Compiled code enters parallel regions through `GOMP_parallel`. Where torch is loaded, that is the function of torch's
own OpenMP runtime, so that the two share one pool of threads; else the system's libgomp; else loops run on the
calling thread.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

SYMBOLS = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")
"""What compiled code calls."""

NUM_THREADS = "cuvil_num_threads"
"""The i32 global of compiled code that says how many threads a parallel loop may use; the runtime sets it."""

_LIBRARY = re.compile(r"/lib(gomp|omp|iomp5)[-.][^/]*$")
_loaded: OpenMP | None = None
_loaded_with_torch = False
_is_forked = False


@dataclass(frozen=True)
class OpenMP:
    """An OpenMP runtime: where its functions are. `keep` holds what must outlive them."""

    library: str
    addresses: dict[str, int]
    keep: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def is_serial(self) -> bool:
        """True where there is no runtime and loops run on the calling thread."""
        return not self.library


def openmp() -> OpenMP:
    """The OpenMP runtime of this process; looked for again once torch has been imported."""
    global _loaded, _loaded_with_torch
    with_torch = "torch" in sys.modules
    if _loaded is None or (with_torch and not _loaded_with_torch):
        _loaded, _loaded_with_torch = _find(), with_torch
    return _loaded


def thread_count() -> int:
    """How many threads a parallel loop uses by default: torch's number if torch is loaded, else the usable cores."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_num_threads"):
        return int(torch.get_num_threads())
    requested = os.environ.get("OMP_NUM_THREADS", "")
    if requested.isdigit() and int(requested) > 0:
        return int(requested)
    return _usable_cores()


def allowed_threads(asked: int | None) -> int:
    """`asked`, or the default where it is None; one in a forked process, whose OpenMP runtime lost its threads."""
    return 1 if _is_forked else asked or thread_count()


def _note_fork() -> None:
    """A parallel region in the child would wait for ever for threads that only the parent has."""
    global _is_forked
    _is_forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


@cache
def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _find() -> OpenMP:
    paths = _mapped_libraries()
    if (system := ctypes.util.find_library("gomp")) is not None:
        paths.append(system)
    for path in paths:
        try:
            library = ctypes.CDLL(path)
            addresses = {name: _address(getattr(library, name)) for name in SYMBOLS}
        except (OSError, AttributeError):
            continue
        return OpenMP(path, addresses, (library,))
    return _serial()


def _mapped_libraries() -> list[str]:
    """OpenMP libraries that are in this process already; torch's first."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            mapped = {line.split(maxsplit=5)[-1].strip() for line in maps if "/" in line}
    except OSError:
        return []
    return sorted((path for path in mapped if _LIBRARY.search(path)), key=lambda path: ("torch" not in path, path))


def _address(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


_BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _run_alone(body: int, context: int | None, threads: int, flags: int) -> None:
    _BODY(body)(context)


def _thread_number() -> int:
    return 0


def _team_size() -> int:
    return 1


def _serial() -> OpenMP:
    """A runtime whose teams have one thread."""
    functions: dict[str, tuple[Any, Callable[..., Any]]] = {
        "GOMP_parallel": (
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint),
            _run_alone,
        ),
        "omp_get_thread_num": (ctypes.CFUNCTYPE(ctypes.c_int), _thread_number),
        "omp_get_num_threads": (ctypes.CFUNCTYPE(ctypes.c_int), _team_size),
    }
    keep = {name: prototype(function) for name, (prototype, function) in functions.items()}
    return OpenMP("", {name: _address(function) for name, function in keep.items()}, tuple(keep.values()))
