"""The instruments that cuvil-opt's options ask for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from cuvil import universe
from cuvil.errors import UserError
from cuvil.instrument.verify import VerifyEach
from cuvil.ir_text import PrintOptions

if TYPE_CHECKING:
    from cuvil.instrument.base import Instrument
    from cuvil.instrument.statistics import PassStatistics
    from cuvil.instrument.timing import Timing


def make_instruments(
    options: argparse.Namespace, timing: Timing, statistics: PassStatistics | None
) -> list[Instrument]:
    """What wraps every pass; the outermost first, so that time is measured around the pass alone.

    Raises `UserError` if an option names a pass that does not exist.
    """
    instruments: list[Instrument] = []
    if options.crash_reproducer:
        from cuvil.instrument.reproducer import CrashReproducer

        verify: bool = options.verify_each
        instruments.append(CrashReproducer(options.crash_reproducer, options.local_reproducer, verify))
    if options.snapshots:
        from cuvil.instrument.snapshots import Snapshots

        instruments.append(Snapshots(options.snapshots, print_options(options)))
    if options.validate is not None:
        from cuvil.instrument.validate import Validate

        instruments.append(Validate(options.validate))
    if options.verify_each and not options.disable_verify:
        instruments.append(VerifyEach(timing))
    instruments += _dumps(options)
    if statistics is not None:
        instruments.append(statistics)
    return [*instruments, timing]


def print_options(options: argparse.Namespace) -> PrintOptions:
    """How the user wants IR to be printed, in dumps and in the output."""
    return PrintOptions(
        generic=options.generic,
        properties_as_attributes=options.no_properties,
        locations=options.debuginfo,
        elide_elements_if_larger=options.elide,
        syntax_highlight=options.highlight,
    )


def _dumps(options: argparse.Namespace) -> list[Instrument]:
    before, after = _names(options.before), _names(options.after)
    explicit = bool(before or after or options.before_all or options.after_all)
    # A condition or a place alone asks for dumps as well: after every pass.
    implied = bool(options.after_change or options.tree_dir) and not explicit
    if not (explicit or implied or options.after_failure):
        return []
    from cuvil.instrument.printing import PrintIR

    return [
        PrintIR(
            before=before,
            after=after,
            before_all=options.before_all,
            after_all=options.after_all or implied,
            after_change=options.after_change,
            after_failure=options.after_failure,
            module_scope=options.module_scope,
            tree_dir=options.tree_dir,
            options=print_options(options),
        )
    ]


def _names(texts: list[str]) -> frozenset[str]:
    """The pass names in comma-separated lists. Raises `UserError` for an unknown one."""
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    for name in names:
        if not universe.has_pass(name):
            raise UserError(f"cannot print the IR around an unknown pass '{name}'")
    return frozenset(names)
