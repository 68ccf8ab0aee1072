"""What a convolution is, and how its weight lies in memory.

Three layouts, chosen by `layout_of` from the spec and the target alone, so that the compiler can pack ahead:

  panels    [G][P][*K][I/G][NR]   O/G padded by zeros to P panels of NR channels: dense and grouped convolutions
  lanes     [*K][O']              O padded by zeros to whole vectors: depthwise, where each channel is a group
  winograd  [P][a * a][I][NR]     panels of the transformed weight, where the spec asks for it

The first two are pad, reshape and transpose of the weight [O, I/G, *K]; the third first replaces the 9 taps by a * a
products, a contraction with the constant `winograd_transforms.weight_matrix`. `pack_weight` is all that in NumPy, and
its statements are what `pack-weights` says in IR.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.loops import Index
from cuvil.codegen.packing import accumulator_type, element_bits
from cuvil.codegen.windows import WindowDim
from cuvil.codegen.winograd_transforms import weight_matrix

if TYPE_CHECKING:
    import numpy as np

    from cuvil.targets.cpu import CpuTarget

_MOST_PIXELS = 14
"""Output pixels of a register tile at most: enough to hide the weights' loads, and a divisor of 56, 28 and 14."""

_PANEL_COST = {1: 1.25, 2: 1.0, 3: 1.0, 4: 1.0}
"""Relative cost of a multiply-add by vectors in a panel: one vector needs a load for each."""


@dataclass(frozen=True)
class ConvolutionSpec:
    """A convolution of input [N, spatial..., C] with weight [O, C/groups, *kernel]; spatial rank 1 to 3.

    `input` and `output` are spatial extents; `padding` is (lo, hi) per dim and may be negative (a crop). `winograd`
    asks for F(m x m, 3 x 3) with that m (2 or 4; 0: a direct convolution): only where `winograd.can_use_winograd`.
    """

    element_type: Attribute
    in_channels: int
    out_channels: int
    input: tuple[Index, ...]
    kernel: tuple[int, ...]
    output: tuple[Index, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    lhs_dilation: tuple[int, ...]
    groups: int = 1
    winograd: int = 0

    @property
    def dims(self) -> tuple[WindowDim, ...]:
        """The spatial dims, outermost first."""
        return tuple(
            WindowDim(extent, kernel, output, stride, lo, hi, dilation, spread)
            for extent, kernel, output, stride, (lo, hi), dilation, spread in zip(
                self.input, self.kernel, self.output, self.strides, self.padding, self.dilation, self.lhs_dilation,
                strict=True,
            )
        )  # fmt: skip

    @property
    def group_inputs(self) -> int:
        """Input channels of one group."""
        return self.in_channels // self.groups

    @property
    def group_outputs(self) -> int:
        """Output channels of one group."""
        return self.out_channels // self.groups

    @property
    def is_depthwise(self) -> bool:
        """Every channel is convolved by itself, one output each."""
        return self.groups > 1 and self.in_channels == self.out_channels == self.groups

    @property
    def accumulator_type(self) -> Attribute:
        """What products are summed in: f32 for the 16-bit floats, else the element type."""
        return accumulator_type(self.element_type)


@dataclass(frozen=True)
class WeightLayout:
    """How the weight is packed: `lanes` elements a vector, `vectors` of them a panel; `by_lanes`: the lanes layout."""

    by_lanes: bool
    lanes: int
    vectors: int
    pixels: int
    """Output pixels of the register tile that goes with it."""
    winograd: int = 0

    @property
    def panel(self) -> int:
        """Output channels of a panel."""
        return self.lanes * self.vectors


@dataclass(frozen=True)
class PackedWeight:
    """A weight in the packed layout: flat elements of `buffer` from `offset` on."""

    buffer: SSAValue
    offset: Index = 0


def layout_of(spec: ConvolutionSpec, target: CpuTarget) -> WeightLayout:
    """The layout, and with it the register tile, for `spec` on `target`."""
    lanes = target.lanes(element_bits(spec.accumulator_type))
    if spec.is_depthwise:
        return WeightLayout(True, lanes, 1, 1)
    choices = (4, 3, 2, 1) if target.vector_bytes <= 16 and target.vector_registers >= 32 else (2, 3, 1)

    def cost(vectors: int) -> float:
        panel = vectors * lanes
        return -(-spec.group_outputs // panel) * panel * _PANEL_COST[vectors]

    vectors = min(choices, key=cost)
    pixels = max(1, min(_MOST_PIXELS, (target.vector_registers - vectors - 2) // vectors))
    return WeightLayout(False, lanes, vectors, pixels, spec.winograd)


def packed_shape(spec: ConvolutionSpec, target: CpuTarget) -> tuple[int, ...]:
    """The packed weight's logical shape; its memory is this, row-major."""
    layout = layout_of(spec, target)
    if layout.by_lanes:
        return (*spec.kernel, -(-spec.out_channels // layout.lanes) * layout.lanes)
    panels = -(-spec.group_outputs // layout.panel)
    if layout.winograd:
        return (panels, (layout.winograd + 2) ** 2, spec.in_channels, layout.panel)
    return (spec.groups, panels, *spec.kernel, spec.group_inputs, layout.panel)


def packed_size(spec: ConvolutionSpec, target: CpuTarget) -> int:
    """Elements of the packed weight."""
    return prod(packed_shape(spec, target))


def pack_weight(weight: np.ndarray[Any, Any], spec: ConvolutionSpec, target: CpuTarget) -> np.ndarray[Any, Any]:
    """`weight` [O, I/G, *K] in the packed layout, shaped `packed_shape`."""
    import numpy as np

    layout = layout_of(spec, target)
    rank = len(spec.kernel)
    if layout.by_lanes:
        missing = -spec.out_channels % layout.lanes
        padded = np.pad(weight.reshape(-1, *spec.kernel), [(0, missing)] + [(0, 0)] * rank)
        return np.ascontiguousarray(padded.transpose(*range(1, rank + 1), 0))
    if layout.winograd:
        return _pack_winograd(weight, layout)
    grouped = weight.reshape(spec.groups, spec.group_outputs, spec.group_inputs, *spec.kernel)
    missing = -spec.group_outputs % layout.panel
    padded = np.pad(grouped, [(0, 0), (0, missing)] + [(0, 0)] * (rank + 1))
    panels = padded.reshape(spec.groups, -1, layout.panel, spec.group_inputs, *spec.kernel)
    return np.ascontiguousarray(panels.transpose(0, 1, *range(4, rank + 4), 3, 2))


def _pack_winograd(weight: np.ndarray[Any, Any], layout: WeightLayout) -> np.ndarray[Any, Any]:
    import numpy as np

    outputs, inputs = weight.shape[:2]
    matrix = np.array(weight_matrix(layout.winograd))
    products = np.einsum("xt,oit->xio", matrix, weight.reshape(outputs, inputs, 9).astype(np.float64))
    padded = np.pad(products.astype(weight.dtype), [(0, 0), (0, 0), (0, -outputs % layout.panel)])
    return np.ascontiguousarray(padded.reshape(len(matrix), inputs, -1, layout.panel).transpose(2, 0, 1, 3))
