"""The symbols of an exported program: what they range over, and importing a program whose dims have names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp

from cuvil.dialects.tensor import shape_of, symbols_attribute
from cuvil.dialects.tensor_symbols import SYMBOLS, symbols_of
from cuvil.errors import CuvilError, UnsupportedError, UserError
from cuvil.frontends.assigned_buffers import assigned_buffers
from cuvil.frontends.aten_types import named_symbols, symbol_name
from cuvil.frontends.dynamic_export import (
    Probe,
    Symbols,
    export_dynamic,
    ranges_of_program,
    violated_constraints,
)
from cuvil.frontends.dynamic_shapes import DynamicShapes
from cuvil.frontends.export_errors import explained, quiet
from cuvil.semantics.dims import DimExpr, SymbolRange
from cuvil.semantics.size_obligations import counterexample, is_met, obligations

if TYPE_CHECKING:
    from cuvil.frontends.exported import ImportedModule


def declare_symbols(function: FuncOp, program: ExportedProgram) -> FuncOp:
    """Say of the function of a program which symbols it has, in the order of its arguments, and their ranges."""
    declared = [shape_of(each) for each in function.function_type.inputs if isinstance(each, TensorType)]
    open_dims = [dim for shape in declared for dim in shape if isinstance(dim, DimExpr)]
    names = dict.fromkeys(name for dim in open_dims for name in sorted(dim.symbols()))
    if names:
        known = {symbol_name(symbol): found for symbol, found in ranges_of_program(program).items()}
        function.attributes[SYMBOLS] = symbols_attribute({name: known.get(name, SymbolRange()) for name in names})
    return function


def trace_dynamic(
    model: torch.nn.Module,
    example_inputs: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
    name: str = "main",
    is_called: bool = False,
) -> tuple[ImportedModule, tuple[Probe, ...]]:
    """Export a model with open dims and import it; the probes are to be checked once it is compiled. `is_called` is as
    for `import_exported`.

    Raises `UserError` where `dynamic_shapes` does not fit the example or the model, and as `trace_model` does.
    """
    from cuvil.frontends.exported import EXPORTING, import_exported

    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    args, keywords = _apart((tuple(example_inputs), dict(kwargs or {})))
    shapes = DynamicShapes.of(model, args, keywords, dynamic_shapes)
    try:
        with EXPORTING, torch.no_grad(), quiet(), assigned_buffers(model) as assigned:
            program, symbols, probes = export_dynamic(model, shapes)
    except CuvilError:
        raise
    except Exception as error:
        if (violated := violated_constraints(str(error))) is not None:
            raise UserError(f"{type(model).__name__}: {violated}") from error
        raise explained(error, type(model).__name__) from error
    with named_symbols(symbols.names, symbols.ranges):
        imported = import_exported(program, name, model, is_called, assigned)
    _narrow(imported, symbols)
    imported.dim_names = symbols.dim_names
    check_sizes(imported.module, imported.name)
    return imported, probes


def check_sizes(module: ModuleOp, name: str) -> None:
    """Raise `UnsupportedError` if in the declared ranges there are sizes for which a program's shapes make no sense."""
    function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    ranges = symbols_of(function)
    if not ranges:
        return
    for dim in obligations(function):
        found = None if is_met(dim, ranges) else counterexample(dim, ranges)
        if found is not None:
            where = " and ".join(f"{symbol} = {value}" for symbol, value in found.items())
            raise UnsupportedError(
                f"the model's shapes were traced for larger sizes: where {where}, {dim} would be "
                f"{dim.evaluate(found)}; declare a greater min for these dims"
            )


def _apart(arguments: Any) -> Any:
    """Arguments of which no two are one tensor: torch.export takes one passed twice for one input."""
    seen: set[int] = set()

    def distinct(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or id(leaf) not in seen:
            seen.add(id(leaf))
            return leaf
        return leaf.detach().clone()

    return pytree.tree_map(distinct, arguments)


def _narrow(imported: ImportedModule, symbols: Symbols) -> None:
    """Say of the function's symbols what the declared dims say; torch has it without 0 and 1 at times."""
    for function in imported.module.ops:
        if isinstance(function, FuncOp) and SYMBOLS in function.attributes:
            known = {symbols.names.get(symbol, symbol): found for symbol, found in symbols.ranges.items()}
            listed = function.attributes[SYMBOLS].data  # pyright: ignore
            function.attributes[SYMBOLS] = symbols_attribute({name: known[name] for name in listed if name in known})
