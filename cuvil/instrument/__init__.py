"""What can be put around passes: `from cuvil.instrument import Snapshots, Timing, Validate`.

Importing this package imports nothing else: what is named here is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuvil.instrument.base import Instrument as Instrument
    from cuvil.instrument.base import PassRun as PassRun
    from cuvil.instrument.printing import PrintIR as PrintIR
    from cuvil.instrument.roundtrip import RoundtripEach as RoundtripEach
    from cuvil.instrument.snapshots import Snapshots as Snapshots
    from cuvil.instrument.statistics import PassStatistics as PassStatistics
    from cuvil.instrument.timing import Timing as Timing
    from cuvil.instrument.validate import Validate as Validate
    from cuvil.instrument.verify import VerifyEach as VerifyEach

_PLACES = {
    "Instrument": "base",
    "PassRun": "base",
    "PassStatistics": "statistics",
    "PrintIR": "printing",
    "RoundtripEach": "roundtrip",
    "Snapshots": "snapshots",
    "Timing": "timing",
    "Validate": "validate",
    "VerifyEach": "verify",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'cuvil.instrument' has no attribute '{name}'")
    value = getattr(import_module(f"cuvil.instrument.{place}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
