"""Decompositions of custom ops that are written with torch's functions: traced for the operands at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from xdsl.ir import SSAValue

from cuvil.custom_ops import CustomOpError
from cuvil.dialects.tensor import CustomOp, element_of, shape_of
from cuvil.errors import CuvilError
from cuvil.frontends.aten_types import dtype_of
from cuvil.frontends.source.trace import Tracer
from cuvil.semantics.core_builder import CoreBuilder


def traced(
    function: Callable[..., Any], op: CustomOp, builder: CoreBuilder, numbers: Mapping[str, Any]
) -> list[SSAValue]:
    """The results of a function of tensors on the op's operands, its ops appended to the builder's block.

    Raises `CustomOpError` where the function fails on tensors without elements, or holds large tensors of its own.
    """
    tracer = Tracer()
    tracer.at(op.location)
    examples: list[Tensor] = []
    for operand in op.inputs:
        shape = shape_of(operand.type)
        if not all(isinstance(dim, int) for dim in shape):
            raise CustomOpError(
                f"op '{op.op_name}': a decomposition in torch is traced for known sizes, got {operand.type}; "
                "give a lowering for symbolic ones"
            )
        examples.append(torch.empty(shape, dtype=dtype_of(element_of(operand)), device="meta"))  # pyright: ignore
    fakes = [tracer.argument(example, f"arg{number}") for number, example in enumerate(examples)]
    try:
        with torch.no_grad(), tracer:
            made = function(*fakes, **numbers)
            results = [tracer.value_of(each) for each in (made if isinstance(made, list | tuple) else [made])]
    except CuvilError as error:
        raise CustomOpError(f"op '{op.op_name}': its decomposition cannot be compiled: {error.message}") from error
    except Exception as error:
        raise CustomOpError(f"op '{op.op_name}': its decomposition failed: {type(error).__name__}: {error}") from error
    if tracer.globals:
        raise CustomOpError(f"op '{op.op_name}': its decomposition holds large tensors; pass them as arguments")
    for argument, operand in zip(tracer.entry.args, op.inputs, strict=True):
        argument.replace_all_uses_with(operand)
    given: dict[SSAValue, SSAValue] = dict(zip(tracer.entry.args, op.inputs, strict=True))
    results = [given.get(each, each) for each in results]
    for inner in list(tracer.entry.ops):
        inner.detach()
        builder.block.add_op(inner)
    return results
