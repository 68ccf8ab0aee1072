"""What `cuvil_tensor.custom` means: by its reference in NumPy, else by what it is computed with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from cuvil.custom_ops import CustomOpError, refused_result
from cuvil.dialects.tensor import CustomOp, element_domain, format_shape, shape_of
from cuvil.errors import CuvilError, InternalError
from cuvil.semantics import custom_expressions
from cuvil.semantics.arrays import Array, to_reference
from cuvil.semantics.core_builder import CoreBuilder

CALLBACKS = "cuvil.callbacks"
"""The module attribute that describes the functions without a body that are call-backs."""


def argument_values(op: CustomOp) -> dict[str, Any]:
    """The op's arguments that are no tensors, as Python values."""
    return {} if op.arguments is None else {name: _python(value) for name, value in op.arguments.data.items()}


def _python(value: Attribute) -> Any:
    match value:
        case IntegerAttr():
            is_bool = isinstance(value.type, IntegerType) and value.type.width.data == 1
            return bool(value.value.data) if is_bool else value.value.data
        case FloatAttr():
            return value.value.data
        case StringAttr():
            return value.data
        case ArrayAttr():
            return [_python(part) for part in value.data]
        case _:
            return None


def expanded(op: CustomOp, target: str = "cpu") -> tuple[Block, list[SSAValue]]:
    """Ops that compute what a custom op does from its operands, in a block of their own, and its results' values.

    Raises `CustomOpError` where the registered function fails or gives other types.
    """
    registered = op.registered
    lowering = registered.lowering.get(target)
    builder = CoreBuilder(op.location)
    numbers = argument_values(op)
    if registered.decomposition is not None:
        from cuvil.frontends.custom_trace import traced

        results = traced(registered.decomposition, op, builder, numbers)
    elif isinstance(lowering, str):
        tree = custom_expressions.parse(op.op_name, lowering, registered.parameters)
        names = [name for name in registered.parameters if name not in numbers]
        if len(names) < len(op.inputs):
            raise CustomOpError(f"op '{op.op_name}' has {len(op.inputs)} tensors, its reference names {len(names)}")
        operands = dict(zip(names, op.inputs, strict=False))
        defaults = {
            name: each.default
            for name, each in inspect.signature(registered.reference or len).parameters.items()
            if each.default is not inspect.Parameter.empty
        }
        declared: Any = op.outputs[0].type
        results = [custom_expressions.build(builder, tree, operands, {**defaults, **numbers}, declared)]
    elif lowering is not None:
        results = _lowered(op, lowering, builder, numbers)
    else:
        raise InternalError(f"op '{op.op_name}' is computed by a call-back and has nothing to expand to", op)
    _check_types(op, results)
    return builder.block, results


def _lowered(op: CustomOp, lowering: Callable[..., Any], builder: CoreBuilder, numbers: Mapping[str, Any]) -> list[Any]:
    """The values that the registered function gives. Raises `CustomOpError` where it fails or gives something else."""
    try:
        made = lowering(builder, *op.inputs, **numbers)
    except (CuvilError, VerifyException) as error:
        raise CustomOpError(
            f"op '{op.op_name}': its lowering cannot be compiled: {getattr(error, 'message', error)}"
        ) from error
    except Exception as error:
        raise CustomOpError(f"op '{op.op_name}': its lowering failed: {type(error).__name__}: {error}") from error
    results: list[Any] = [*made] if isinstance(made, list | tuple) else [made]
    for each in results:
        if not isinstance(each, SSAValue):
            raise CustomOpError(f"op '{op.op_name}': its lowering gives values of the builder, got {each!r}")
    return results


def _check_types(op: CustomOp, results: Sequence[SSAValue]) -> None:
    found, wanted = [each.type for each in results], [each.type for each in op.outputs]
    if found != wanted:
        said, expected = (", ".join(str(each) for each in some) for some in (found, wanted))
        raise CustomOpError(f"op '{op.op_name}': what computes it gives {said}, expected {expected}")


def reference_results(op: CustomOp, operands: Sequence[Array]) -> list[Array] | None:
    """The results by the reference (of a call-back without one: by that); None where only the lowering says."""
    function = op.registered.reference or op.registered.callback
    if function is None:
        return None
    made = function(*operands, **argument_values(op))
    results = list(made) if isinstance(made, list | tuple) else [made]
    if len(results) != len(op.outputs):
        raise VerifyException(f"op '{op.op_name}': the reference gives {len(results)} results, not {len(op.outputs)}")
    arrays: list[Array] = []
    for result, output in zip(results, op.outputs, strict=True):
        array = np.asarray(result)
        declared: Any = output.type
        refused = refused_result(array.dtype, element_domain(declared.element_type) or "c")
        if refused is not None:
            raise VerifyException(f"op '{op.op_name}': the reference: {refused}")
        known = [dim for dim in shape_of(declared) if isinstance(dim, int)]
        if array.ndim != len(shape_of(declared)) or (
            len(known) == array.ndim and array.shape != tuple(shape_of(declared))
        ):
            raise VerifyException(
                f"op '{op.op_name}': the reference gives shape {list(array.shape)}, "
                f"expected {format_shape(shape_of(declared))}"
            )
        arrays.append(to_reference(array, declared.element_type))
    return arrays
