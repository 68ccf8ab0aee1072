"""cuvil-opt's answers to questions about itself: help, version, passes, pipelines, targets, dialects."""

from __future__ import annotations

import argparse
import inspect

from cuvil import universe
from cuvil.pass_options import describe_options
from cuvil.tools.opt_arguments import OptParser, UsageError


def answer(options: argparse.Namespace) -> str | None:
    """The text that a query option asks for, or None if there is none among the options."""
    if options.help:
        return OptParser().format_help()
    if options.version:
        return _version()
    if options.describe_pass:
        return _describe_pass(options.describe_pass)
    if options.list_passes:
        return "".join(f"{name:<34}  {_summary(name)}".rstrip() + "\n" for name in universe.pass_names(True))
    if options.list_pipelines:
        return _pipelines()
    if options.list_targets:
        from cuvil.tools.opt_targets import target_names

        return "\n".join(target_names()) + "\n"
    if options.show_dialects:
        return "Available Dialects: " + ", ".join(universe.dialect_names()) + "\n"
    return None


def _version() -> str:
    from importlib.metadata import version

    return f"cuvil-opt {version('cuvil')} (xDSL {version('xdsl')})\n"


def _pipelines() -> str:
    from cuvil.pipeline import NAMED_PIPELINES, pipeline_table, target_names

    named = [f"{name} = {text}" for name, text in sorted(NAMED_PIPELINES.items())]
    return "\n".join([*named, *(pipeline_table(target) for target in target_names())]) + "\n"


def _describe_pass(name: str) -> str:
    try:
        pass_class = universe.find_pass(name)
    except ImportError as error:
        raise UsageError(f"pass '{name}' cannot be loaded: {error}") from error
    if pass_class is None:
        raise UsageError(f"unknown pass '{name}'")
    if universe.is_cuvil_pass(name):
        document = inspect.getdoc(inspect.getmodule(pass_class)) or ""
    else:
        document = inspect.getdoc(pass_class) or ""
    options = describe_options(pass_class)
    lines = [
        name,
        "",
        *(f"  {line}".rstrip() for line in document.splitlines()),
        "",
        "options:" if options else "no options",
    ]
    return "\n".join([*lines, *(f"  {line}" for line in options)]) + "\n"


def _summary(name: str) -> str:
    """What a pass is for; nothing for one that needs a package that is not installed."""
    try:
        return universe.pass_summary(name)
    except ImportError:
        return ""
