"""Output forms of cuvil-opt: MLIR text, our own texts for lower levels, and whatever xDSL and plugins print."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

from cuvil import universe
from cuvil.errors import CuvilError, UserError
from cuvil.ir_text import PrintOptions, print_op

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.utils.target import Target

Emitter: TypeAlias = "Callable[[Context, ModuleOp, PrintOptions], str]"

TEXT_EMITTERS = {
    "llvm": ("cuvil.codegen.llvm_text", "module_to_text"),
    "ptx": ("cuvil.codegen.ptx_text", "module_to_text"),
}
"""Functions `(module) -> text` of ours, by target name; one whose module does not exist is not a target."""


def target_names() -> list[str]:
    """The names that `-t` takes, sorted."""
    ours = [name for name, (module, _) in TEXT_EMITTERS.items() if find_spec(module) is not None]
    upstream = [*universe.XDSL_UNIVERSE.all_targets, *universe.plugins().all_targets]
    return sorted({*ours, *upstream})


def find_emitter(text: str) -> Emitter:
    """The function that prints a module for `-t text`. Raises `UserError` for an unknown target or wrong arguments."""
    name = text.partition("{")[0].strip()
    if name == "mlir" and name == text:
        return lambda context, module, options: print_op(module, options, context)
    if name in TEXT_EMITTERS and find_spec(TEXT_EMITTERS[name][0]) is not None:
        module_name, function = TEXT_EMITTERS[name]
        return lambda _context, module, _options: getattr(import_module(module_name), function)(module)
    target = _upstream_target(name, text)
    return lambda context, module, _options: _emit(target, context, module)


def _upstream_target(name: str, text: str) -> Target:
    from xdsl.utils.arg_spec import parse_spec
    from xdsl.utils.exceptions import ArgSpecParseError

    factory = universe.XDSL_UNIVERSE.all_targets.get(name) or universe.plugins().all_targets.get(name)
    if factory is None:
        raise UserError(f"unknown target '{name}'; known: {', '.join(target_names())}")
    try:
        return factory().from_spec(parse_spec(text))
    except ImportError as error:
        raise UserError(f"target '{name}' cannot be loaded: {error}") from error
    except (ArgSpecParseError, ValueError) as error:
        raise UserError(f"target '{text}': {' '.join(str(error).split())}") from error


def _emit(target: Target, context: Context, module: ModuleOp) -> str:
    stream = StringIO()
    try:
        target.emit(context, module, stream)
    except CuvilError:
        raise
    except Exception as error:  # upstream's printers raise whatever they like for what they do not know
        message = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"target '{target.name}' cannot print this module: {message}") from error
    return stream.getvalue()
