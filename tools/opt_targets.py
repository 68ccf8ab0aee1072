"""Output forms of cuvil-opt: MLIR text, our own texts for lower levels, and whatever xDSL and plugins print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

from cuvil import universe
from cuvil.errors import CuvilError, UserError
from cuvil.ir_text import PrintOptions, print_op
from cuvil.pipeline_syntax import PassNode, parse

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.utils.target import Target

Emitter: TypeAlias = "Callable[[Context, ModuleOp, PrintOptions], str]"


@dataclass(frozen=True)
class TextEmitter:
    """A function `(module, machine) -> text` of ours, and the class whose `named(...)` finds the machine."""

    module: str
    function: str
    machine_module: str
    machine_class: str
    option: str = "target"
    """What the option that names the machine is called."""
    default: str = "host"
    """The machine that stands for none."""

    def exists(self) -> bool:
        """True if this part of Cuvil is installed."""
        return find_spec(self.module) is not None

    def emit(self, module: ModuleOp, machine_name: str) -> str:
        """The module as text. Raises `CuvilError` for an unknown machine, or a module of another level."""
        try:
            machine = getattr(import_module(self.machine_module), self.machine_class).named(machine_name)
        except ValueError as error:
            raise UserError(str(error)) from error
        return getattr(import_module(self.module), self.function)(module, machine)


TEXT_EMITTERS = {
    "llvm": TextEmitter("cuvil.codegen.llvm_text", "module_to_text", "cuvil.targets.cpu", "CpuTarget"),
    "ptx": TextEmitter(
        "cuvil.codegen.ptx_text", "module_to_text", "cuvil.targets.cuda", "CudaTarget", "arch", "sm_90a"
    ),
}
"""What `-t llvm`, `-t 'llvm{target=x86-64-v3}'` and `-t 'ptx{arch=sm_80}'` print.

One whose module does not exist is not a target.
"""


def target_names() -> list[str]:
    """The names that `-t` takes, sorted."""
    ours = [name for name, emitter in TEXT_EMITTERS.items() if emitter.exists()]
    upstream = [*universe.XDSL_UNIVERSE.all_targets, *universe.plugins().all_targets]
    return sorted({*ours, *upstream})


def find_emitter(text: str) -> Emitter:
    """The function that prints a module for `-t text`. Raises `UserError` for an unknown target or wrong arguments."""
    name = text.partition("{")[0].strip()
    if name == "mlir" and name == text:
        return lambda context, module, options: print_op(module, options, context)
    emitter = TEXT_EMITTERS.get(name)
    if emitter is not None and emitter.exists():
        machine = _machine_name(text, emitter)
        return lambda _context, module, _options: emitter.emit(module, machine)
    target = _upstream_target(name, text)
    return lambda context, module, _options: _emit(target, context, module)


def _machine_name(text: str, emitter: TextEmitter) -> str:
    """The machine that `llvm{target=NAME}` or `ptx{arch=NAME}` asks for, or the emitter's default."""
    nodes = parse(text)
    options = nodes[0].options if len(nodes) == 1 and isinstance(nodes[0], PassNode) else None
    if options is None or any(option.name != emitter.option or not option.values for option in options):
        raise UserError(f"target '{text}': expected NAME or NAME{{{emitter.option}=MACHINE}}")
    return options[0].values[0] if options and options[0].values else emitter.default


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
