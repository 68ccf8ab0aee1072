"""Convolution kernels, compiled and run, against float64 PyTorch.

Bounds on |got - want| / |want| (Euclidean norms): a sum of K products, each rounded once, wanders by about
eps/2 * sqrt(K) for random data; 16-bit results add their own rounding, eps/2 at most. Integers are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from cuvil.codegen import windows
from cuvil.codegen.access import StridedOperand
from cuvil.codegen.contraction import PlainStore
from cuvil.codegen.convolution import emit_convolution
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight, pack_weight, packed_shape
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.winograd import can_use_winograd, choose_winograd
from cuvil.targets.cpu import CpuTarget
from tests.loop_kernel import ELEMENT_TYPES, run_kernel


@dataclass(frozen=True)
class Case:
    """One convolution; tuples per spatial dim, `padding` a number or (lo, hi) each."""

    input: tuple[int, ...]
    kernel: tuple[int, ...]
    channels: tuple[int, int]
    stride: int = 1
    padding: int | tuple[tuple[int, int], ...] = 0
    dilation: int = 1
    lhs_dilation: int = 1
    groups: int = 1
    batch: int = 1
    dtype: torch.dtype = torch.float32
    winograd: int = 0

    @property
    def pads(self) -> tuple[tuple[int, int], ...]:
        """(lo, hi) of each dim."""
        if isinstance(self.padding, int):
            return ((self.padding, self.padding),) * len(self.input)
        return self.padding

    @property
    def output(self) -> tuple[int, ...]:
        """Output spatial extents."""
        return tuple(
            max(0, (max(0, (size - 1) * self.lhs_dilation + 1) + sum(pad) - (kernel - 1) * self.dilation - 1)
                // self.stride + 1)
            for size, kernel, pad in zip(self.input, self.kernel, self.pads, strict=True)
        )  # fmt: skip

    def spec(self) -> ConvolutionSpec:
        """The emitter's description."""
        rank = len(self.input)
        return ConvolutionSpec(
            ELEMENT_TYPES[self.dtype], *self.channels, self.input, self.kernel, self.output, (self.stride,) * rank,
            self.pads, (self.dilation,) * rank, (self.lhs_dilation,) * rank, self.groups, self.winograd,
        )  # fmt: skip

    def operands(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Random input [N, spatial..., C] and weight [O, I/G, *K]."""
        generator = torch.Generator().manual_seed(sum(self.input) + self.channels[1])
        inputs, outputs = self.channels
        shapes = ((self.batch, *self.input, inputs), (outputs, inputs // self.groups, *self.kernel))
        if not self.dtype.is_floating_point:
            x, w = (torch.randint(-9, 10, shape, generator=generator, dtype=torch.int64) for shape in shapes)
        else:
            x, w = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
        return x.to(self.dtype), w.to(self.dtype)

    def reference(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """The result [N, spatial..., O] in float64."""
        rank, outputs = len(self.input), self.output
        if 0 in outputs:
            return torch.empty(self.batch, *outputs, self.channels[1], dtype=torch.float64)
        planes = x.double().movedim(-1, 1)
        spread = [max(0, (size - 1) * self.lhs_dilation + 1) for size in self.input]
        sparse = planes.new_zeros(*planes.shape[:2], *spread)
        sparse[(..., *[slice(None, None, self.lhs_dilation)] * rank)] = planes
        padded = torch.nn.functional.pad(sparse, [side for pad in reversed(self.pads) for side in pad])
        convolve = (torch.nn.functional.conv1d, torch.nn.functional.conv2d, torch.nn.functional.conv3d)[rank - 1]
        return convolve(padded, w.double(), None, self.stride, 0, self.dilation, self.groups).movedim(1, -1)

    def bound(self) -> float:
        """The allowed relative error (see the module's text)."""
        if not self.dtype.is_floating_point:
            return 0.0
        if self.winograd == 4:
            return 3e-6
        products = prod(self.kernel) * self.channels[0] // self.groups
        sums = torch.finfo(torch.float64 if self.dtype == torch.float64 else torch.float32).eps
        own = torch.finfo(self.dtype).eps / 2 if self.dtype.itemsize == 2 else 0.0
        return own + sums / 2 * (1 + products**0.5)


def _pack(weight: torch.Tensor, spec: ConvolutionSpec, target: CpuTarget) -> torch.Tensor:
    raw = weight.view(torch.int16) if weight.dtype == torch.bfloat16 else weight
    packed = torch.from_numpy(pack_weight(raw.numpy(), spec, target))
    assert tuple(packed.shape) == packed_shape(spec, target)
    return packed.view(weight.dtype).reshape(-1)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def _run(
    case: Case, x: torch.Tensor, w: torch.Tensor, target: CpuTarget, threads: int = 2, offset: int = 0,
    strides: tuple[int, ...] | None = None, buffer: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """The kernel's result; `buffer`, `offset` and `strides` say where the input is, if not dense."""
    spec = case.spec()
    shape = (case.batch, *case.input, case.channels[0])
    out = torch.full((case.batch, *case.output, spec.out_channels), 77).to(case.dtype)

    def emit(b: LoopBuilder, buffers: list[SSAValue]) -> None:
        operand = StridedOperand(buffers[0], offset, shape, strides or _row_major(shape))
        store = PlainStore(buffers[2], spec.out_channels)
        emit_convolution(b, target, spec, operand, PackedWeight(buffers[1]), store, threads)

    run_kernel(emit, [x if buffer is None else buffer, _pack(w, spec, target), out], target)
    return out


def _check(case: Case, got: torch.Tensor, want: torch.Tensor) -> None:
    assert got.shape == want.shape
    if not case.dtype.is_floating_point:
        assert torch.equal(got, want.to(torch.int64).to(case.dtype))
        return
    error = (got.double() - want).norm() / want.norm().clamp_min(1e-30)
    assert error <= case.bound()


CASES = {
    "stem-7x7-s2": Case((38, 38), (7, 7), (3, 64), stride=2, padding=3),
    "3x3": Case((14, 14), (3, 3), (32, 64), padding=1),
    "3x3-s2": Case((28, 28), (3, 3), (32, 64), stride=2, padding=1),
    "3x3-7x7-image": Case((7, 7), (3, 3), (64, 64), padding=1),
    "1x1": Case((14, 14), (1, 1), (48, 96)),
    "1x1-s2": Case((14, 14), (1, 1), (32, 64), stride=2),
    "1x1-padded": Case((5, 5), (1, 1), (8, 8), padding=1),
    "patchify-16x16": Case((64, 64), (16, 16), (3, 40), stride=16),
    "patchify-4x4": Case((24, 24), (4, 4), (3, 96), stride=4),
    "downsample-2x2": Case((14, 14), (2, 2), (48, 96), stride=2),
    "stride-above-kernel": Case((13, 13), (2, 2), (5, 7), stride=3),
    "odd-channels": Case((9, 11), (3, 3), (13, 37), padding=1),
    "one-channel": Case((9, 9), (3, 3), (1, 1), padding=1),
    "one-output": Case((3, 3), (3, 3), (16, 24)),
    "wide-row": Case((2, 61), (3, 3), (8, 16), padding=1),
    "narrow-image": Case((31, 3), (3, 3), (8, 16), padding=1),
    "one-column": Case((31, 1), (3, 1), (8, 16)),
    "three-vectors": Case((6, 8), (3, 3), (16, 48), padding=1),
    "batch": Case((7, 5), (3, 3), (12, 20), padding=1, batch=3),
    "batch-1x1": Case((5, 5), (1, 1), (12, 20), batch=3),
    "empty-batch": Case((7, 7), (3, 3), (8, 8), padding=1, batch=0),
    "empty-output": Case((2, 2), (3, 3), (8, 8)),
    "kernel-above-input": Case((2, 3), (5, 5), (8, 16), padding=2),
    "asymmetric": Case((9, 10), (3, 4), (8, 16), padding=((0, 2), (3, 1))),
    "negative-padding": Case((9, 10), (3, 3), (8, 16), padding=((-1, 1), (-2, -1))),
    "dilated": Case((16, 15), (3, 3), (8, 16), padding=2, dilation=2),
    "dilated-strided": Case((17, 17), (3, 3), (8, 16), padding=3, dilation=3, stride=2),
    "transposed": Case((6, 7), (3, 3), (8, 16), padding=1, lhs_dilation=2),
    "transposed-asymmetric": Case((5, 5), (4, 4), (20, 9), padding=((2, 3), (2, 3)), lhs_dilation=3, dilation=2),
    "grouped": Case((10, 10), (3, 3), (32, 48), padding=1, groups=4),
    "grouped-small": Case((10, 10), (3, 3), (24, 24), padding=1, groups=6, batch=2),
    "multiplier": Case((10, 10), (3, 3), (6, 18), padding=1, groups=6),
    "conv1d": Case((50,), (3,), (20, 24), padding=1),
    "conv1d-s2": Case((51,), (3,), (20, 24), padding=1, stride=2, batch=2),
    "conv3d": Case((5, 6, 7), (3, 3, 3), (4, 10), padding=1),
    "conv3d-s2-dilated": Case((7, 8, 9), (2, 3, 2), (4, 10), padding=1, stride=2, dilation=2, batch=2),
    "conv3d-1x1": Case((3, 4, 5), (1, 1, 1), (9, 17)),
    "scratch-too-small": Case((14, 40), (11, 11), (1024, 8), padding=5),
    "columns-in-blocks": Case((6, 90), (3, 3), (512, 8), padding=1),
    "depthwise-3x3": Case((14, 14), (3, 3), (32, 32), padding=1, groups=32),
    "depthwise-3x3-s2": Case((15, 15), (3, 3), (32, 32), padding=1, stride=2, groups=32),
    "depthwise-7x7": Case((14, 15), (7, 7), (48, 48), padding=3, groups=48),
    "depthwise-odd": Case((9, 33), (3, 5), (21, 21), padding=2, groups=21, batch=2),
    "depthwise-few": Case((5, 5), (3, 3), (3, 3), padding=1, groups=3),
    "depthwise-dilated": Case((12, 12), (3, 3), (16, 16), padding=2, dilation=2, groups=16),
    "depthwise-transposed": Case((6, 6), (3, 3), (17, 17), padding=1, lhs_dilation=2, groups=17),
    "depthwise-wide": Case((40,), (31,), (20, 20), padding=15, groups=20),
    "depthwise-above-input": Case((2, 2), (5, 5), (20, 20), padding=2, groups=20),
    "depthwise-3d": Case((4, 5, 6), (3, 3, 3), (20, 20), padding=1, groups=20),
    "depthwise-empty": Case((4, 5), (3, 3), (20, 20), padding=1, groups=20, batch=0),
}


@pytest.mark.parametrize("name", CASES)
def test_matches_pytorch(name: str) -> None:
    """Every kind of convolution in f32, on the host's vectors."""
    case = CASES[name]
    x, w = case.operands()
    _check(case, _run(case, x, w, CpuTarget.host()), case.reference(x, w))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int32], ids=str)
@pytest.mark.parametrize("name", ["3x3", "odd-channels", "transposed", "depthwise-odd"])
def test_element_types(name: str, dtype: torch.dtype) -> None:
    """16-bit floats sum in f32; integers wrap around."""
    case = replace(CASES[name], dtype=dtype)
    x, w = case.operands()
    _check(case, _run(case, x, w, CpuTarget.host()), case.reference(x, w))


@pytest.mark.skipif(not CpuTarget.host().is_x86 or CpuTarget.host().vector_bytes < 32, reason="needs AVX2")
@pytest.mark.parametrize("name", ["1x1", "odd-channels", "stem-7x7-s2", "3x3-7x7-image", "depthwise-odd"])
def test_narrower_vectors(name: str) -> None:
    """The register tiles of a CPU with AVX2: sixteen registers of eight lanes."""
    case, target = CASES[name], CpuTarget.named("x86-64-v3")
    x, w = case.operands()
    _check(case, _run(case, x, w, target), case.reference(x, w))


@pytest.mark.parametrize("name", ["3x3", "1x1", "odd-channels", "batch", "depthwise-odd"])
def test_channels_first_input(name: str) -> None:
    """Any strides do: here an NCHW buffer seen channels-last, at an offset."""
    case = CASES[name]
    x, w = case.operands()
    buffer = torch.cat([torch.full((5,), 1e9), x.movedim(-1, 1).reshape(-1)])
    shape = (case.batch, case.channels[0], *case.input)
    image, channel, *spatial = _row_major(shape)
    got = _run(case, x, w, CpuTarget.host(), offset=5, strides=(image, *spatial, channel), buffer=buffer)
    _check(case, got, case.reference(x, w))


@pytest.mark.parametrize("name", ["3x3", "1x1", "1x1-s2", "patchify-4x4", "depthwise-3x3", "stem-7x7-s2"])
def test_pixels_apart(name: str) -> None:
    """A slice of a wider channels-last buffer: pixels are not contiguous."""
    case = CASES[name]
    x, w = case.operands()
    channels = case.channels[0]
    wide = torch.full((case.batch, *case.input, channels + 3), 1e9)
    wide[..., 2 : 2 + channels] = x
    got = _run(case, x, w, CpuTarget.host(), offset=2, strides=_row_major(wide.shape), buffer=wide.reshape(-1))
    _check(case, got, case.reference(x, w))


@pytest.mark.parametrize("threads", [1, 3, 16])
@pytest.mark.parametrize("name", ["3x3-7x7-image", "1x1", "depthwise-7x7", "conv1d", "transposed"])
def test_every_cut_covers_the_output(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the work is cut for `threads`, each output is stored once and right."""
    monkeypatch.setattr(windows, "_SEQUENTIAL_WORK", 0)
    case = CASES[name]
    x, w = case.operands()
    _check(case, _run(case, x, w, CpuTarget.host(), threads), case.reference(x, w))


@pytest.mark.parametrize("name", ["3x3", "1x1", "odd-channels", "batch", "transposed", "depthwise-odd", "conv1d-s2"])
def test_run_time_extents(name: str) -> None:
    """Batch and spatial extents that are values of the kernel."""
    case, target = CASES[name], CpuTarget.host()
    x, w = case.operands()
    spec = case.spec()
    sizes = torch.tensor([case.batch, *case.input, *case.output])
    out = torch.full((case.batch, *case.output, spec.out_channels), 77.0)

    def emit(b: LoopBuilder, buffers: list[SSAValue]) -> None:
        values: list[Index] = [b.cast_index(b.load(buffers[3], i), IndexType()) for i in range(len(sizes))]
        rank = len(case.input)
        dynamic = replace(spec, input=tuple(values[1 : 1 + rank]), output=tuple(values[1 + rank :]))
        shape: tuple[Index, ...] = (*values[: 1 + rank], spec.in_channels)
        strides = tuple(b.product(shape[dim + 1 :]) for dim in range(len(shape)))
        operand = StridedOperand(buffers[0], 0, shape, strides)
        store = PlainStore(buffers[2], spec.out_channels)
        emit_convolution(b, target, dynamic, operand, PackedWeight(buffers[1]), store, 2)

    run_kernel(emit, [x, _pack(w, spec, target), out, sizes], target)
    _check(case, out, case.reference(x, w))


def test_run_time_batch() -> None:
    """A batch known at run time keeps the fast kernel: 200 images' worth of code is one image's."""
    case, target = replace(CASES["batch"], batch=4), CpuTarget.host()
    x, w = case.operands()
    spec = case.spec()
    out = torch.full((case.batch, *case.output, spec.out_channels), 77.0)

    def emit(b: LoopBuilder, buffers: list[SSAValue]) -> None:
        shape = (b.cast_index(b.load(buffers[3], 0), IndexType()), *case.input, spec.in_channels)
        operand = StridedOperand(buffers[0], 0, shape, (prod(shape[1:]), *_row_major(shape[1:])))  # pyright: ignore
        store = PlainStore(buffers[2], spec.out_channels)
        emit_convolution(b, target, spec, operand, PackedWeight(buffers[1]), store, 2)

    run_kernel(emit, [x, _pack(w, spec, target), out, torch.tensor([case.batch])], target)
    _check(case, out, case.reference(x, w))


WINOGRAD_CASES = {
    "even": Case((8, 8), (3, 3), (32, 64), padding=1),
    "7x7-image": Case((7, 7), (3, 3), (64, 64), padding=1),
    "odd-image": Case((13, 22), (3, 3), (16, 48), padding=1),
    "unpadded": Case((10, 11), (3, 3), (32, 16)),
    "asymmetric": Case((9, 10), (3, 3), (32, 32), padding=((0, 2), (3, 1))),
    "cropped": Case((12, 12), (3, 3), (32, 32), padding=((-1, 0), (0, -2))),
    "batch": Case((9, 6), (3, 3), (32, 80), padding=1, batch=3),
    "many-tiles": Case((40, 37), (3, 3), (32, 32), padding=1),
    "smaller-than-a-tile": Case((2, 1), (3, 3), (16, 16), padding=1),
    "many-channels": Case((14, 14), (3, 3), (256, 64), padding=1),
}


@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("name", WINOGRAD_CASES)
def test_winograd(name: str, m: int) -> None:
    """F(m x m, 3 x 3): m = 2 rounds like a direct convolution, m = 4 a few times more, 3e-6 at most."""
    case, target = replace(WINOGRAD_CASES[name], winograd=m), CpuTarget.host()
    assert can_use_winograd(case.spec(), target)
    x, w = case.operands()
    _check(case, _run(case, x, w, target), case.reference(x, w))


@pytest.mark.parametrize("threads", [1, 3, 16])
def test_every_cut_of_winograd(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of tiles and shares of panels cover the output."""
    monkeypatch.setattr(windows, "_SEQUENTIAL_WORK", 0)
    case = replace(WINOGRAD_CASES["batch"], winograd=4)
    x, w = case.operands()
    _check(case, _run(case, x, w, CpuTarget.host(), threads), case.reference(x, w))


def test_winograd_is_chosen_where_it_pays() -> None:
    """In ResNet-50's 3x3 layers, but not with few channels, nor where weights outgrow the saving."""
    target = CpuTarget.named("x86-64-v4")

    def choice(size: int, channels: int, stride: int = 1, groups: int = 1) -> int:
        case = Case((size, size), (3, 3), (channels, channels), stride, padding=1, groups=groups)
        return choose_winograd(case.spec(), target)

    assert [choice(56, 64), choice(28, 128), choice(14, 256)] == [4, 4, 2]
    assert [choice(7, 512), choice(56, 64, stride=2), choice(56, 60), choice(28, 128, groups=2)] == [0, 0, 0, 0]


def test_padding_never_multiplies_infinity() -> None:
    """An infinite input reaches exactly the outputs whose windows hold it."""
    case = Case((6, 6), (3, 3), (8, 16), padding=1)
    x, w = case.operands()
    x[0, 0, 0, 0] = float("inf")
    got = _run(case, x, w, CpuTarget.host())
    affected = ~torch.isfinite(got).all(-1)[0]
    assert affected.nonzero().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("name", CASES)
def test_packing_is_pad_reshape_transpose(name: str) -> None:
    """The packed weight holds every element once, and zeros."""
    case = CASES[name]
    spec, target = case.spec(), CpuTarget.named("x86-64-v4")
    weight = np.arange(1, prod(case.operands()[1].shape) + 1).reshape(case.operands()[1].shape)
    packed = pack_weight(weight, spec, target)
    assert packed.shape == packed_shape(spec, target)
    assert np.array_equal(np.sort(packed[packed != 0]), weight.reshape(-1))
