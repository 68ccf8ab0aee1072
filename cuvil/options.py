"""What a user can set about a compilation: one dataclass, from a mapping with checks.

    cuvil.compile(model, (x,), options={"threads": 2, "verify": True})

- `enable_memory_reuse`: buffers whose lifetimes do not overlap share memory; off, to tell planning errors from others.
- `fuse_conv_bn_relu`: batch norms go into the weights of the convolutions before them.
- `threads`: threads of parallel loops; None: as many as torch uses.
- `verify`: verify the whole module after every pass.
- `validate`: run the module before and after every pass on random inputs and compare.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args, get_type_hints

from cuvil.errors import UserError


class OptionError(UserError):
    """An option that does not exist, or a value of the wrong type."""


@dataclass(frozen=True)
class Options:
    """The options of one compilation; see the module's docstring."""

    enable_memory_reuse: bool = True
    fuse_conv_bn_relu: bool = True
    threads: int | None = None
    verify: bool = False
    validate: bool = False

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            _check_type(name, getattr(self, name), hint)
        if self.threads is not None and self.threads < 1:
            raise OptionError(f"option 'threads' is at least 1, got {self.threads}")

    @staticmethod
    def of(options: Options | Mapping[str, Any] | None) -> Options:
        """The options of a mapping. Raises `OptionError` for an unknown name or a value of the wrong type."""
        if options is None:
            return Options()
        if isinstance(options, Options):
            return options
        if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise OptionError(f"options are a mapping of names to values, got {type(options).__name__}")
        known = [field.name for field in fields(Options)]
        for name in options:
            if name not in known:
                raise OptionError(f"unknown option '{name}'; {_nearest(str(name), known)}")
        return Options(**options)


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"


def _check_type(name: str, value: Any, hint: Any) -> None:
    allowed = get_args(hint) or (hint,)
    # bool is an int in Python, but `threads=True` is a mistake.
    if type(value) not in allowed:
        expected = " or ".join("None" if kind is type(None) else kind.__name__ for kind in allowed)
        raise OptionError(f"option '{name}' is {expected}, got {value!r} ({type(value).__name__})")
