"""Reference meaning of the loop level: memref and vector ops on flat buffers. For small functions, in tests of lowerings."""

from __future__ import annotations

from cuvil.semantics.interpreter import Meaning

MEANINGS: dict[str, Meaning] = {}
