"""Composites of `cuvil_tensor`: named computations that patterns may match whole before `decompose` takes them apart.

Each one's meaning *is* its decomposition into core ops, declared in `cuvil.semantics.decompositions`; the pass
`decompose` and the reference interpreter both use that one. Every composite's result type is that of its first operand
unless it says otherwise, and numbers are as PyTorch's op of the same name computes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from cuvil.dialects.base import TensorOp, float_attr, int_attr, ints
from cuvil.dialects.tensor_movement import element_of, numbers
from cuvil.dialects.types import element_domain, format_shape, shape_of, tensor_of
from cuvil.semantics import shape_rules
from cuvil.semantics.dims import Dim

Optional = SSAValue | Operation | None


def _value(operand: Optional) -> SSAValue | None:
    return None if operand is None else SSAValue.get(operand)


class CompositeOp(TensorOp):
    """Base: floating-point input, result of the same type."""

    traits = traits_def(Pure())

    def infer_types(self) -> Sequence[Attribute]:
        return [self.operands[0].type]

    def check(self) -> None:
        if element_domain(element_of(self.operands[0])) != "f":
            raise self.fault(f"needs a float element type, got {element_of(self.operands[0])}")
        for operand in self.operands[1:]:
            if element_domain(element_of(operand)) == "f" and element_of(operand) != element_of(self.operands[0]):
                raise self.fault(
                    f"operands differ in element type: {element_of(self.operands[0])}, {element_of(operand)}; "
                    "cast first"
                )
        self.check_attributes()

    def check_attributes(self) -> None:
        """What this composite requires beyond float operands."""

    def check_axes(self, axes: Sequence[int]) -> None:
        """Axes of the first operand."""
        try:
            shape_rules.check_axes(axes, len(shape_of(self.operands[0].type)))
        except shape_rules.ShapeError as error:
            raise self.fault(str(error)) from error

    def check_operand(self, name: str, operand: SSAValue | None, shape: Sequence[Dim]) -> None:
        """An (optional) operand must have this shape."""
        if operand is not None and shape_of(operand.type) != tuple(shape):
            raise self.fault(f"{name} is {format_shape(shape_of(operand.type))}, expected {format_shape(shape)}")


class SoftmaxLikeOp(CompositeOp):
    """Base of softmax and log_softmax."""

    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr[I64])
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, axis: int):
        value = SSAValue.get(input)
        super().__init__(operands=[value], properties={"axis": int_attr(axis)}, result_types=[value.type])

    def check_attributes(self) -> None:
        self.check_axes([self.axis.value.data])


@irdl_op_definition
class SoftmaxOp(SoftmaxLikeOp):
    """exp(x - max(x)) / sum(exp(x - max(x))) along `axis`: `%1 = cuvil_tensor.softmax %0 axis = 1 : tensor<4x8xf32>
    -> tensor<4x8xf32>`."""

    name = "cuvil_tensor.softmax"


@irdl_op_definition
class LogSoftmaxOp(SoftmaxLikeOp):
    """x - max(x) - log(sum(exp(x - max(x)))) along `axis`: `%1 = cuvil_tensor.log_softmax %0 axis = 1 :
    tensor<4x8xf32> -> tensor<4x8xf32>`."""

    name = "cuvil_tensor.log_softmax"


class NormOp(CompositeOp):
    """Base of the norms over trailing axes."""

    input = operand_def(TensorType)
    weight = opt_operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    eps = prop_def(FloatAttr[Float64Type])
    result = result_def(TensorType)

    def normalized_shape(self) -> list[Dim]:
        """The input's dims along `axes`."""
        shape = shape_of(self.input.type)
        return [shape[axis] for axis in numbers(self.axes)]

    def check_attributes(self) -> None:
        self.check_axes(numbers(self.axes))
        for name, operand in (("weight", self.weight), ("bias", getattr(self, "bias", None))):
            self.check_operand(name, operand, self.normalized_shape())


@irdl_op_definition
class LayerNormOp(NormOp):
    """(x - mean) / sqrt(var + eps) over `axes`, times `weight` plus `bias` (both of the shape of those dims).

    `%1 = cuvil_tensor.layer_norm %x weight = %w bias = %b axes = [1] eps = 1.0e-05
      : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<4x8xf32>`
    """

    name = "cuvil_tensor.layer_norm"

    # All three again: definitions of a subclass come before inherited ones, and the input is the first operand.
    input = operand_def(TensorType)
    weight = opt_operand_def(TensorType)
    bias = opt_operand_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        input: SSAValue | Operation,
        axes: Sequence[int],
        eps: float,
        weight: Optional = None,
        bias: Optional = None,
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value, _value(weight), _value(bias)],
            properties={"axes": ints(axes), "eps": float_attr(eps)},
            result_types=[value.type],
        )


@irdl_op_definition
class RmsNormOp(NormOp):
    """x / sqrt(mean(x^2) + eps) over `axes`, times `weight`.

    `%1 = cuvil_tensor.rms_norm %x weight = %w axes = [1] eps = 1.0e-06 : tensor<4x8xf32>, tensor<8xf32> ->
      tensor<4x8xf32>`
    """

    name = "cuvil_tensor.rms_norm"

    def __init__(self, input: SSAValue | Operation, axes: Sequence[int], eps: float, weight: Optional = None):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value, _value(weight)],
            properties={"axes": ints(axes), "eps": float_attr(eps)},
            result_types=[value.type],
        )


@irdl_op_definition
class BatchNormOp(CompositeOp):
    """(x - mean) / sqrt(variance + eps) * weight + bias with given statistics for each channel (dim `axis`).

    `%1 = cuvil_tensor.batch_norm %x, %mean, %variance weight = %w bias = %b axis = 1 eps = 1.0e-05 : ...`
    """

    name = "cuvil_tensor.batch_norm"

    input = operand_def(TensorType)
    mean = operand_def(TensorType)
    variance = operand_def(TensorType)
    weight = opt_operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    axis = prop_def(IntegerAttr[I64])
    eps = prop_def(FloatAttr[Float64Type])
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        input: SSAValue | Operation,
        mean: SSAValue | Operation,
        variance: SSAValue | Operation,
        axis: int,
        eps: float,
        weight: Optional = None,
        bias: Optional = None,
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value, SSAValue.get(mean), SSAValue.get(variance), _value(weight), _value(bias)],
            properties={"axis": int_attr(axis), "eps": float_attr(eps)},
            result_types=[value.type],
        )

    def check_attributes(self) -> None:
        self.check_axes([self.axis.value.data])
        channels = [shape_of(self.input.type)[self.axis.value.data]]
        for name in ("mean", "variance", "weight", "bias"):
            self.check_operand(name, getattr(self, name), channels)


@irdl_op_definition
class GroupNormOp(CompositeOp):
    """Normalization of [N, C, ...] over groups of channels and all dims behind them.

    `weight` and `bias` scale and shift each channel.

    `%1 = cuvil_tensor.group_norm %x weight = %w bias = %b groups = 4 eps = 1.0e-05 : ...`
    """

    name = "cuvil_tensor.group_norm"

    input = operand_def(TensorType)
    weight = opt_operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    groups = prop_def(IntegerAttr[I64])
    eps = prop_def(FloatAttr[Float64Type])
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self, input: SSAValue | Operation, groups: int, eps: float, weight: Optional = None, bias: Optional = None
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value, _value(weight), _value(bias)],
            properties={"groups": int_attr(groups), "eps": float_attr(eps)},
            result_types=[value.type],
        )

    def check_attributes(self) -> None:
        shape = shape_of(self.input.type)
        if len(shape) < 2:
            raise self.fault(f"needs [N, C, ...], got {format_shape(shape)}")
        groups = self.groups.value.data
        if groups < 1 or (isinstance(shape[1], int) and shape[1] % groups):
            raise self.fault(f"{shape[1]} channels do not split into {groups} groups")
        self.check_operand("weight", self.weight, shape[1:2])
        self.check_operand("bias", self.bias, shape[1:2])


@irdl_op_definition
class GeluOp(CompositeOp):
    """x * Phi(x): `approximate = erf` exact, `approximate = tanh` by 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    `%1 = cuvil_tensor.gelu %0 approximate = tanh : tensor<4xf32> -> tensor<4xf32>`
    """

    name = "cuvil_tensor.gelu"

    input = operand_def(TensorType)
    approximate = prop_def(StringAttr)
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, approximate: str = "erf"):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value], properties={"approximate": StringAttr(approximate)}, result_types=[value.type]
        )

    def check_attributes(self) -> None:
        if self.approximate.data not in ("erf", "tanh"):
            raise self.fault(f"approximate is 'erf' or 'tanh', got '{self.approximate.data}'")


@irdl_op_definition
class SiluOp(CompositeOp):
    """x * sigmoid(x): `%1 = cuvil_tensor.silu %0 : tensor<4xf32> -> tensor<4xf32>`."""

    name = "cuvil_tensor.silu"

    input = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation):
        value = SSAValue.get(input)
        super().__init__(operands=[value], result_types=[value.type])


@irdl_op_definition
class LinearOp(CompositeOp):
    """x @ weight^T + bias: x [..., K], weight [N, K], bias [N].

    `%1 = cuvil_tensor.linear %x, %w bias = %b : tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32> -> tensor<4x16xf32>`
    """

    name = "cuvil_tensor.linear"

    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    bias = opt_operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, weight: SSAValue | Operation, bias: Optional = None):
        value, matrix = SSAValue.get(input), SSAValue.get(weight)
        shape = (*shape_of(value.type)[:-1], shape_of(matrix.type)[0])
        super().__init__(operands=[value, matrix, _value(bias)], result_types=[tensor_of(element_of(value), shape)])

    def check(self) -> None:
        shape, weight = shape_of(self.input.type), shape_of(self.weight.type)
        if not shape or len(weight) != 2 or shape[-1] != weight[1]:
            raise self.fault(
                f"input {format_shape(shape)} does not fit weight {format_shape(weight)}, [..., K] x [N, K]"
            )
        if element_of(self.input) != element_of(self.weight):
            raise self.fault(f"operands differ in element type: {element_of(self.input)}, {element_of(self.weight)}")
        self.check_operand("bias", self.bias, weight[:1])

    def infer_types(self) -> Sequence[Attribute]:
        shape = (*shape_of(self.input.type)[:-1], shape_of(self.weight.type)[0])
        return [tensor_of(element_of(self.input), shape)]


@irdl_op_definition
class AttentionOp(CompositeOp):
    """softmax(scale * query key^T + mask) value, over heads.

    Shapes: query [..., H, S, D], key [..., G, T, D], value [..., G, T, E], where H is a multiple of G (grouped queries:
    heads h * H/G ... share key head h). `mask` is added if float; where it is a false bool, or where `causal` (position
    t > s, both counted from 0), the score is -inf; a row without any score gives 0 with a bool mask, as PyTorch's
    `scaled_dot_product_attention` does. `mask` broadcasts to [..., H, S, T] already.

    `%1 = cuvil_tensor.attention %q, %k, %v mask = %m scale = 0.125 : ...`
    """

    name = "cuvil_tensor.attention"

    query = operand_def(TensorType)
    key = operand_def(TensorType)
    value = operand_def(TensorType)
    mask = opt_operand_def(TensorType)
    causal = opt_prop_def(UnitAttr)
    scale = prop_def(FloatAttr[Float64Type])
    result = result_def(TensorType)

    def __init__(
        self,
        query: SSAValue | Operation,
        key: SSAValue | Operation,
        value: SSAValue | Operation,
        scale: float,
        mask: Optional = None,
        causal: bool = False,
    ):
        values = [SSAValue.get(query), SSAValue.get(key), SSAValue.get(value)]
        shape = (*shape_of(values[0].type)[:-1], shape_of(values[2].type)[-1])
        super().__init__(
            operands=[*values, _value(mask)],
            properties={"scale": float_attr(scale), "causal": UnitAttr() if causal else None},
            result_types=[tensor_of(element_of(values[0]), shape)],
        )

    def check_attributes(self) -> None:
        query, key, value = (shape_of(operand.type) for operand in (self.query, self.key, self.value))
        if len(query) < 3 or len(key) != len(query) or len(value) != len(query):
            raise self.fault("query, key and value are [..., heads, length, size] of one rank")
        if query[-1] != key[-1] or key[-2] != value[-2] or key[-3] != value[-3]:
            raise self.fault(
                f"query {format_shape(query)}, key {format_shape(key)} and value {format_shape(value)} do not fit"
            )
        if query[:-3] != key[:-3] or query[:-3] != value[:-3]:
            raise self.fault("batch dims of query, key and value differ")
        if isinstance(query[-3], int) and isinstance(key[-3], int) and (key[-3] < 1 or query[-3] % key[-3]):
            raise self.fault(f"{query[-3]} query heads are no multiple of {key[-3]} key heads")
        self.check_operand("mask", self.mask, (*query[:-1], key[-2]))
        if self.mask is not None and element_domain(element_of(self.mask)) not in ("f", "b"):
            raise self.fault(f"the mask is float or i1, got {element_of(self.mask)}")

    def infer_types(self) -> Sequence[Attribute]:
        shape = (*shape_of(self.query.type)[:-1], shape_of(self.value.type)[-1])
        return [tensor_of(element_of(self.query), shape)]


@irdl_op_definition
class RopeOp(CompositeOp):
    """Rotary position embedding: x * cos + rotate_half(x) * sin.

    rotate_half(x) is [-x2, x1], where x1 and x2 are the halves of the last dim.

    `%1 = cuvil_tensor.rope %x, %cos, %sin : tensor<1x8x4x16xf32>, tensor<1x8x4x16xf32>, tensor<1x8x4x16xf32> -> ...`
    """

    name = "cuvil_tensor.rope"

    input = operand_def(TensorType)
    cos = operand_def(TensorType)
    sin = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, cos: SSAValue | Operation, sin: SSAValue | Operation):
        value = SSAValue.get(input)
        super().__init__(operands=[value, SSAValue.get(cos), SSAValue.get(sin)], result_types=[value.type])

    def check_attributes(self) -> None:
        shape = shape_of(self.input.type)
        if not shape or (isinstance(shape[-1], int) and shape[-1] % 2):
            raise self.fault(f"the last dim must be even, got {format_shape(shape)}")
        self.check_operand("cos", self.cos, shape)
        self.check_operand("sin", self.sin, shape)
