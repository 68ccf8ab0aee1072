"""Python's cyclic garbage collector, held while the compiler makes operations by the ten thousand.

Every operation lives in cycles (blocks, uses, owners), and nearly all of them are alive until the compile ends, so that
each collection walks the whole IR to free nothing: on large modules that tripled compile time.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_suspended() -> Generator[None]:
    """Collect no cycles until the end of the `with`; reference counts free what they can all the same. Nests."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
