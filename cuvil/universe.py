"""What exists: Cuvil's dialects and passes beside xDSL's, found by name and imported when first used.

`CUVIL_UNIVERSE` is the plugin that `xdsl-opt` loads through the `xdsl.universe` entry point. The functions below answer
the compiler's own questions: `find_pass`, `pass_names`, `make_context`.

Passes are discovered by listing the passes folder: `lower_math.py` is the pass `lower-math`, its class `LowerMathPass`.
A module whose name starts with an underscore is not a pass. Nothing is imported until somebody asks for it, so that
start-up does not grow with the number of passes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import TypeGuard, cast

from xdsl.context import Context
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe

from cuvil.errors import InternalError, SourceLocation, UserError

PassFactory = Callable[[], type[ModulePass]]
_PASSES_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "passes")
_DIALECTS = {
    "cuvil_tensor": ("cuvil.dialects.tensor", "CuvilTensor"),
    "cuvil_fused": ("cuvil.dialects.fused", "CuvilFused"),
    "cuvil_vector": ("cuvil.dialects.vector", "CuvilVector"),
    "cuvil_llvm": ("cuvil.dialects.llvm_extra", "CuvilLLVM"),
    "cuvil_gpu": ("cuvil.dialects.gpu", "CuvilGpu"),
    "nvvm": ("cuvil.dialects.nvvm", "NVVM"),
}
_registered: dict[str, PassFactory] = {}


def register_pass(pass_class: type[ModulePass]) -> type[ModulePass]:
    """Make a pass class of the user's known by its `name`; usable as a decorator.

    The name may be that of a registered pass, which it replaces, but not of a built-in one.
    Raises `ValueError` if it is a built-in one's.
    """
    if find_builtin_pass(pass_class.name) is not None:
        raise ValueError(f"pass '{pass_class.name}' exists already")
    _registered[pass_class.name] = lambda: pass_class
    return pass_class


def unregister_pass(name: str) -> None:
    """Forget a pass that `register_pass` made known."""
    _registered.pop(name, None)


def load_pass_file(path: str) -> list[str]:
    """Run a Python file and register every pass class it defines; returns their names.

    Raises `UserError` if there is no such file, or it cannot be run, or a name is taken.
    """
    spec = spec_from_file_location(f"cuvil_pass_file_{len(_registered)}", path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise UserError(f"cannot load passes from '{path}': not a Python file")
    module = module_from_spec(spec)
    # Dataclasses and pickling look a class's module up by its name.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        found = [value for value in vars(module).values() if _is_pass_of(value, spec.name)]
        return [register_pass(pass_class).name for pass_class in found]
    except Exception as error:  # the file is the user's, and so is the mistake
        message = f"cannot load passes from '{path}': {type(error).__name__}: {error}"
        raise UserError(message, _location_in_file(error, path)) from error


def find_pass(name: str) -> type[ModulePass] | None:
    """The class of the pass called `name`: registered, Cuvil's, xDSL's or a plugin's; None if there is none."""
    factory = _registered.get(name) or find_builtin_pass(name)
    return factory() if factory is not None else None


def has_pass(name: str) -> bool:
    """True if there is a pass called `name`; does not import it."""
    return name in _registered or find_builtin_pass(name) is not None


def find_builtin_pass(name: str) -> PassFactory | None:
    """The factory of a pass that came with an installed package, not from `register_pass`."""
    factory = _with_mlir_options(name) or CUVIL_UNIVERSE.all_passes.get(name) or XDSL_UNIVERSE.all_passes.get(name)
    # Reading the entry points of every installed package is slow: only for a name that nobody else knows.
    return factory or plugins().all_passes.get(name)


def pass_names(with_plugins: bool = False) -> list[str]:
    """The names of all passes, sorted; those of plugins too, at the cost of reading the entry points."""
    names = {*_registered, *CUVIL_UNIVERSE.all_passes, *XDSL_UNIVERSE.all_passes}
    if with_plugins:
        names.update(plugins().all_passes)
    return sorted(names)


def is_cuvil_pass(name: str) -> bool:
    """True if the pass is a file of the passes folder."""
    return name in CUVIL_UNIVERSE.all_passes


def pass_summary(name: str) -> str:
    """The first line of what the pass says about itself; for a pass of ours without importing it."""
    if is_cuvil_pass(name):
        with open(_pass_path(name), encoding="utf-8") as file:
            return file.readline().strip().strip('"').strip()
    pass_class = find_pass(name)
    document = (pass_class.__doc__ or "").strip() if pass_class is not None else ""
    # A dataclass without a docstring gets its signature as one.
    return "" if document.startswith(f"{getattr(pass_class, '__name__', '')}(") else document.split("\n")[0]


def make_context(allow_unregistered: bool = False) -> Context:
    """A context that knows every dialect of Cuvil, xDSL and the plugins; each is imported when first used."""
    context = _LazyContext(allow_unregistered)
    for universe in (XDSL_UNIVERSE, CUVIL_UNIVERSE):
        for name, factory in universe.all_dialects.items():
            context.register_dialect(name, factory)
    return context


def dialect_names() -> list[str]:
    """The names of all dialects, plugins' included, sorted."""
    return sorted({*XDSL_UNIVERSE.all_dialects, *CUVIL_UNIVERSE.all_dialects, *plugins().all_dialects})


@cache
def plugins() -> Universe:
    """What other installed packages add through the `xdsl.universe` entry point; a broken plugin adds nothing."""
    from importlib.metadata import entry_points

    merged = Universe()
    for entry in entry_points(group="xdsl.universe"):
        try:
            universe = entry.load()
        except Exception:  # somebody else's package must not break ours
            continue
        if isinstance(universe, Universe) and universe is not CUVIL_UNIVERSE and universe is not XDSL_UNIVERSE:
            merged.all_dialects.update(universe.all_dialects)
            merged.all_passes.update(universe.all_passes)
            merged.all_targets.update(universe.all_targets)
            merged.all_frontends.update(universe.all_frontends)
    return merged


class _LazyContext(Context):
    """A context that turns to the plugins only for a dialect that nobody else has."""

    def get_optional_dialect(self, name: str) -> Dialect | None:
        self._ask_plugins(name)
        return super().get_optional_dialect(name)

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        self._ask_plugins(name.partition(".")[0])
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        self._ask_plugins(name.partition(".")[0])
        return super().get_optional_type(name)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        self._ask_plugins(name.partition(".")[0])
        return super().get_optional_attr(name)

    def _ask_plugins(self, dialect: str) -> None:
        """Register `dialect` if only a plugin has it. Names without a dialect never get here in vain twice: cached."""
        if dialect in self._registered_dialects or (factory := plugins().all_dialects.get(dialect)) is None:
            return
        self.register_dialect(dialect, factory)


def _is_pass_of(value: object, module: str) -> TypeGuard[type[ModulePass]]:
    """True if `value` is a pass class that the module defines, not one that it imports."""
    return isinstance(value, type) and issubclass(value, ModulePass) and value.__module__ == module


def _location_in_file(error: BaseException, path: str) -> SourceLocation | None:
    """The line of the Python file `path` at which `error` left it."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return SourceLocation(path, line, 1) if line is not None else None


def _discover_passes() -> dict[str, PassFactory]:
    """A factory for every module of the passes folder, by pass name."""
    modules = [entry[:-3] for entry in os.listdir(_PASSES_FOLDER) if entry.endswith(".py") and entry[0] != "_"]
    return {module.replace("_", "-"): _pass_factory(module) for module in sorted(modules)}


def _pass_factory(module: str) -> PassFactory:
    def load() -> type[ModulePass]:
        wanted = module.replace("_", "") + "pass"
        contents = vars(import_module(f"cuvil.passes.{module}"))
        # The case is the author's: LowerLoopsToLlvmPass and LowerLoopsToLLVMPass both belong to this file.
        found = next((value for name, value in contents.items() if name.lower() == wanted), None)
        if found is None:
            raise InternalError(f"passes/{module}.py does not define the pass class its name promises ({wanted})")
        return cast(type[ModulePass], found)

    return load


def _dialect_factory(module: str, name: str) -> Callable[[], Dialect]:
    return lambda: getattr(import_module(module), name)


def _pass_path(name: str) -> str:
    return os.path.join(_PASSES_FOLDER, name.replace("-", "_") + ".py")


def _with_mlir_options(name: str) -> PassFactory | None:
    """Upstream's pass under the options that MLIR gives it."""
    if name != "canonicalize":
        return None

    def load() -> type[ModulePass]:
        from cuvil.upstream_passes import Canonicalize

        return Canonicalize

    return load


CUVIL_UNIVERSE = Universe(
    all_dialects={name: _dialect_factory(*place) for name, place in _DIALECTS.items()},
    all_passes=_discover_passes(),
)
"""The plugin: loaded by `xdsl-opt`, `xdsl-gui` and every tool built on them."""
