"""Pool kernels, compiled and run, against PyTorch.

Maxima are exact. Averages are sums of at most some hundred elements and one division: |got - want| / |want| stays
within a few roundings of the accumulator (f32 or f64), plus half an eps of a 16-bit result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any, Literal

import pytest
import torch
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from cuvil.codegen import windows
from cuvil.codegen.access import StridedOperand
from cuvil.codegen.contraction import PlainStore
from cuvil.codegen.loops import Index, LoopBuilder
from cuvil.codegen.pooling import PoolSpec, emit_pool
from cuvil.targets.cpu import CpuTarget
from tests.loop_kernel import ELEMENT_TYPES, run_kernel

_MAX_POOLS = (torch.nn.functional.max_pool1d, torch.nn.functional.max_pool2d, torch.nn.functional.max_pool3d)
_AVG_POOLS = (torch.nn.functional.avg_pool1d, torch.nn.functional.avg_pool2d, torch.nn.functional.avg_pool3d)


@dataclass(frozen=True)
class Case:
    """One pool, in PyTorch's terms."""

    kind: Literal["max", "average"]
    input: tuple[int, ...]
    kernel: tuple[int, ...]
    channels: int
    stride: int
    padding: int = 0
    dilation: int = 1
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor: int | None = None
    batch: int = 1
    dtype: torch.dtype = torch.float32

    @property
    def output(self) -> tuple[int, ...]:
        """Output spatial extents."""
        return tuple(self._outputs(size, kernel) for size, kernel in zip(self.input, self.kernel, strict=True))

    def spec(self) -> PoolSpec:
        """The emitter's description."""
        rank = len(self.input)
        return PoolSpec(
            self.kind, ELEMENT_TYPES[self.dtype], self.channels, self.input, self.kernel, self.output,
            (self.stride,) * rank, ((self.padding, self.padding),) * rank, (self.dilation,) * rank,
            self.count_include_pad, self.divisor,
        )  # fmt: skip

    def _outputs(self, size: int, kernel: int) -> int:
        steps = (size + 2 * self.padding - self.dilation * (kernel - 1) - 1) / self.stride
        if not self.ceil_mode:
            return int(steps // 1) + 1
        # A window that would start past the input and its low padding is dropped.
        outputs = ceil(steps) + 1
        return outputs - 1 if (outputs - 1) * self.stride >= size + self.padding else outputs

    def operand(self) -> torch.Tensor:
        """Random input [N, spatial..., C]."""
        shape = (self.batch, *self.input, self.channels)
        generator = torch.Generator().manual_seed(sum(shape))
        if self.dtype.is_floating_point:
            return torch.randn(shape, generator=generator, dtype=torch.float64).to(self.dtype)
        return torch.randint(-100, 100, shape, generator=generator, dtype=torch.int64).to(self.dtype)

    def reference(self, x: torch.Tensor) -> torch.Tensor:
        """The result [N, spatial..., C] in float64."""
        rank = len(self.input)
        planes = x.double().movedim(-1, 1)
        if self.kind == "max":
            pooled = _MAX_POOLS[rank - 1](
                planes, self.kernel, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode
            )
        else:
            override: dict[str, Any] = {} if rank == 1 else {"divisor_override": self.divisor}
            pooled = _AVG_POOLS[rank - 1](
                planes, self.kernel, self.stride, self.padding, self.ceil_mode, self.count_include_pad, **override
            )
        return pooled.movedim(1, -1)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def _run(
    case: Case, x: torch.Tensor, target: CpuTarget, threads: int = 2, strides: tuple[int, ...] | None = None
) -> torch.Tensor:
    spec = case.spec()
    shape = (case.batch, *case.input, case.channels)
    out = torch.full((case.batch, *case.output, case.channels), 77).to(case.dtype)

    def emit(b: LoopBuilder, buffers: list[SSAValue]) -> None:
        operand = StridedOperand(buffers[0], 0, shape, strides or _row_major(shape))
        emit_pool(b, target, spec, operand, PlainStore(buffers[1], case.channels), threads)

    run_kernel(emit, [x, out], target)
    return out


def _check(case: Case, got: torch.Tensor, want: torch.Tensor) -> None:
    assert got.shape == want.shape
    if case.kind == "max":
        assert torch.equal(got.double(), want)
        return
    sums = torch.finfo(torch.float64 if case.dtype == torch.float64 else torch.float32).eps
    own = torch.finfo(case.dtype).eps / 2 if case.dtype.itemsize == 2 else 0.0
    error = (got.double() - want).norm() / want.norm().clamp_min(1e-30)
    assert error <= own + 4 * sums


CASES = {
    "resnet-stem": Case("max", (18, 18), (3, 3), 64, 2, padding=1),
    "max-2x2": Case("max", (12, 12), (2, 2), 32, 2),
    "max-same": Case("max", (9, 20), (5, 5), 24, 1, padding=2),
    "max-odd-channels": Case("max", (9, 11), (3, 3), 37, 2, padding=1, batch=2),
    "max-one-channel": Case("max", (9, 11), (3, 3), 1, 2, padding=1),
    "max-dilated": Case("max", (15, 15), (3, 3), 16, 1, padding=1, dilation=2),
    "max-ceil": Case("max", (10, 10), (3, 3), 16, 2, ceil_mode=True),
    "max-ceil-padded": Case("max", (10, 11), (3, 2), 16, 3, padding=1, ceil_mode=True),
    "max-1d": Case("max", (40,), (3,), 20, 2, padding=1),
    "max-3d": Case("max", (6, 7, 8), (3, 2, 3), 18, 2, padding=1),
    "max-wide-window": Case("max", (3, 80), (3, 40), 20, 7),
    "max-stride-above-kernel": Case("max", (13, 13), (2, 2), 5, 5),
    "max-empty-batch": Case("max", (6, 6), (2, 2), 8, 2, batch=0),
    "average-2x2": Case("average", (12, 12), (2, 2), 32, 2),
    "average-pad-counted": Case("average", (11, 11), (3, 3), 32, 2, padding=1),
    "average-pad-not-counted": Case("average", (11, 11), (3, 3), 32, 2, padding=1, count_include_pad=False),
    "average-ceil": Case("average", (10, 11), (3, 3), 17, 2, padding=1, ceil_mode=True),
    "average-ceil-not-counted": Case("average", (10, 11), (3, 3), 17, 2, 1, ceil_mode=True, count_include_pad=False),
    "average-divisor": Case("average", (10, 11), (3, 3), 17, 2, padding=1, divisor=7),
    "average-whole-image": Case("average", (7, 7), (7, 7), 64, 7),
    "average-wide-window": Case("average", (2, 50), (2, 50), 20, 50),
    "average-1d": Case("average", (40,), (5,), 20, 3, padding=2),
    "average-3d": Case("average", (6, 7, 8), (3, 2, 3), 18, 2, padding=1, count_include_pad=False, batch=2),
}


@pytest.mark.parametrize("name", CASES)
def test_matches_pytorch(name: str) -> None:
    """Every kind of pool in f32, on the host's vectors."""
    case = CASES[name]
    x = case.operand()
    _check(case, _run(case, x, CpuTarget.host()), case.reference(x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["max-odd-channels", "average-pad-not-counted", "average-ceil"])
def test_float_types(name: str, dtype: torch.dtype) -> None:
    """Maxima are exact in every type; 16-bit averages are summed in f32."""
    case = replace(CASES[name], dtype=dtype)
    x = case.operand()
    _check(case, _run(case, x, CpuTarget.host()), case.reference(x))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64], ids=str)
def test_integer_maxima(dtype: torch.dtype) -> None:
    """Padding is the type's least value, not zero."""
    case = replace(CASES["max-odd-channels"], dtype=dtype)
    x = case.operand() - torch.tensor(28, dtype=dtype)
    _check(case, _run(case, x, CpuTarget.host()), case.reference(x))


@pytest.mark.skipif(not CpuTarget.host().is_x86 or CpuTarget.host().vector_bytes < 32, reason="needs AVX2")
@pytest.mark.parametrize("name", ["resnet-stem", "max-odd-channels", "max-same", "average-ceil"])
def test_narrower_vectors(name: str) -> None:
    """The tiles of a CPU with AVX2."""
    case, target = CASES[name], CpuTarget.named("x86-64-v3")
    x = case.operand()
    _check(case, _run(case, x, target), case.reference(x))


@pytest.mark.parametrize("name", ["resnet-stem", "average-pad-not-counted"])
def test_channels_first_input(name: str) -> None:
    """Any strides do: here an NCHW buffer seen channels-last."""
    case = CASES[name]
    x = case.operand()
    image, channel, *spatial = _row_major((case.batch, case.channels, *case.input))
    got = _run(case, x.movedim(-1, 1).contiguous(), CpuTarget.host(), strides=(image, *spatial, channel))
    _check(case, got, case.reference(x))


@pytest.mark.parametrize("name", ["resnet-stem", "max-same", "max-wide-window", "max-dilated"])
def test_nan_propagates(name: str) -> None:
    """A window that holds a NaN gives NaN, wherever in the window it is; infinities are ordinary."""
    case = CASES[name]
    x = case.operand()
    x[torch.rand(x.shape, generator=torch.Generator().manual_seed(1)) < 0.02] = float("nan")
    x[torch.rand(x.shape, generator=torch.Generator().manual_seed(2)) < 0.05] = float("-inf")
    got, want = _run(case, x, CpuTarget.host()), case.reference(x)
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.nan_to_num(0.0).double(), want.float().nan_to_num(0.0).double())


@pytest.mark.parametrize("threads", [1, 3, 16])
@pytest.mark.parametrize("name", ["max-1d", "average-whole-image", "resnet-stem"])
def test_every_cut_covers_the_output(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the work is cut for `threads`, each output is stored."""
    monkeypatch.setattr(windows, "_SEQUENTIAL_WORK", 0)
    case = CASES[name]
    x = case.operand()
    _check(case, _run(case, x, CpuTarget.host(), threads), case.reference(x))


@pytest.mark.parametrize("name", ["resnet-stem", "average-ceil", "average-pad-not-counted", "max-1d"])
def test_run_time_extents(name: str) -> None:
    """Batch and spatial extents that are values of the kernel."""
    case, target = CASES[name], CpuTarget.host()
    x, spec = case.operand(), case.spec()
    rank = len(case.input)
    sizes = torch.tensor([case.batch, *case.input, *case.output])
    out = torch.full((case.batch, *case.output, case.channels), 77.0)

    def emit(b: LoopBuilder, buffers: list[SSAValue]) -> None:
        values: list[Index] = [b.cast_index(b.load(buffers[2], i), IndexType()) for i in range(len(sizes))]
        dynamic = replace(spec, input=tuple(values[1 : 1 + rank]), output=tuple(values[1 + rank :]))
        shape: tuple[Index, ...] = (*values[: 1 + rank], case.channels)
        strides = tuple(b.product(shape[dim + 1 :]) for dim in range(len(shape)))
        operand = StridedOperand(buffers[0], 0, shape, strides)
        emit_pool(b, target, dynamic, operand, PlainStore(buffers[1], case.channels), 2)

    run_kernel(emit, [x, out, sizes], target)
    _check(case, out, case.reference(x))
