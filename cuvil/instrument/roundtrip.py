"""Round trips: printed IR must parse back to the same IR, in custom and in generic form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import ParseError

from cuvil.errors import CuvilError, Diagnostic, VerificationError, diagnostic_of, render
from cuvil.instrument.base import Instrument
from cuvil.ir_text import PrintOptions, parse_module, print_op

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from cuvil.instrument.base import PassRun

_PRINTED = "<printed>"


@dataclass
class RoundtripEach(Instrument):
    """Checks after every pass that the module survives printing and parsing."""

    def after_pass(self, run: PassRun) -> None:
        check_roundtrip(run.context, run.module)


def check_roundtrip(context: Context, module: ModuleOp) -> None:
    """Print, parse and compare. Raises `VerificationError` that shows where the two part."""
    for options in (PrintOptions(), PrintOptions(generic=True)):
        form = "generic" if options.generic else "custom"
        text = print_op(module, options, context)
        try:
            again = parse_module(context, text, _PRINTED)
        except (ParseError, CuvilError) as error:
            shown = render(diagnostic_of(error), {_PRINTED: text})
            raise VerificationError(f"round trip: the {form} form does not parse back: {shown}", module) from error
        text_again = print_op(again, options, context)
        if text != text_again:
            raise VerificationError(f"round trip: the {form} form changes", module, [_first_change(text, text_again)])
        if not module.is_structurally_equivalent(again):
            message = f"round trip: the {form} form leaves out a part of the IR"
            raise VerificationError(message, module)


def _first_change(before: str, after: str) -> Diagnostic:
    """A note that shows the first line that is not the same in both texts."""
    old_lines, new_lines = before.splitlines(), after.splitlines()
    for number, (old, new) in enumerate(zip(old_lines, new_lines, strict=False), start=1):
        if old != new:
            return Diagnostic("note", f"line {number} was '{old.strip()}' and is '{new.strip()}'")
    return Diagnostic("note", f"{len(old_lines)} lines become {len(new_lines)}")
