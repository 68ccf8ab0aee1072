"""How far two correct evaluations of a program may be apart, by evaluating it with other roundings.

Every floating-point operation may be off by an ulp or so: by the order of a sum, by a fused multiply-add, by the
library's last bit. What that does to a result depends on the program: a cancelled sum loses digits, and a comparison
next to its threshold turns. So the program is run again, in eager PyTorch, with random errors of one ulp put into what
operations round (Monte Carlo arithmetic: Parker 1997; CESTAC: Vignes 1974). Where the runs differ by much, by their
finiteness or by a branch, a result is not a property of the program, and any value is right.

- *Exact* operations (moving, choosing, comparing, integer arithmetic, conversions) put in no error of their own.
- *Rounded* ones (`exp`, `mul`) get an ulp in their results.
- *Accumulating* ones (sums, products of matrices, norms) get an ulp in their inputs too, which stands for their inner
  roundings: they are backward stable.
- *Composed* ones (`gelu`, `lerp`) add terms as large as their inputs: an ulp of those in their results.

A result that no operation rounded has to be equal to the last bit (signs of zeros included).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

SAMPLES = 3
SAFETY = 16.0
"""Times the largest deviation among the samples: three of them seldom meet the worst case, and inner roundings of a sum
of n terms grow with n where errors of inputs grow with its square root."""
FLOOR_ULPS = 6.0
"""Ulps allowed to any rounded result: the errors of two libraries' functions."""

_EXACT = frozenset(
    """alias view _unsafe_view reshape _reshape_alias as_strided clone copy copy_ contiguous detach t transpose permute
    expand squeeze unsqueeze select slice narrow split split_with_sizes chunk unbind diagonal unfold movedim flip roll
    cat stack repeat repeat_interleave tile rot90 tril triu constant_pad_nd pad pixel_shuffle lift_fresh lift_fresh_copy
    _to_copy to fill fill_ zero_ zeros ones full empty zeros_like ones_like full_like empty_like new_zeros new_ones
    new_full arange eye scalar_tensor index index_select index_put index_put_ gather take take_along_dim scatter
    scatter_ masked_fill masked_fill_ where neg neg_ abs abs_ relu relu_ sign sgn floor ceil round trunc frac positive
    clamp clamp_ clamp_min clamp_max minimum maximum fmin fmax amax amin max min aminmax sort topk argmax argmin
    argsort cummax cummin isnan isinf isfinite isposinf isneginf eq ne lt le gt ge logical_not logical_and logical_or
    logical_xor bitwise_not any all nan_to_num nan_to_num_ threshold hardtanh leaky_relu copysign heaviside signbit
    max_pool2d max_pool1d max_pool2d_with_indices searchsorted bucketize fmod remainder
    floor_divide nonzero item is_nonzero _local_scalar_dense median mode kthvalue equal slice_scatter select_scatter
    diagonal_scatter logical_and_ index_fill index_fill_ index_copy masked_scatter scatter_reduce_max channel_shuffle
    diag_embed view_as unsqueeze_ squeeze_ transpose_ t_""".split()
)
_ROUNDED = frozenset(
    """add add_ sub sub_ rsub mul mul_ div div_ true_divide reciprocal sqrt rsqrt square pow exp exp2 log log2 log10 sin
    cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc expm1 log1p sigmoid hypot exp_ sqrt_ tanh_
    sigmoid_ pow_ deg2rad rad2deg float_power""".split()
)
_ACCUMULATING = frozenset(
    """sum mean prod nansum nanmean std var std_mean var_mean norm linalg_vector_norm logsumexp softmax _softmax
    _safe_softmax log_softmax _log_softmax cumsum cumprod logcumsumexp mm bmm addmm addbmm baddbmm matmul mv dot vdot
    addmv addr outer einsum linear bilinear convolution conv1d conv2d native_layer_norm layer_norm native_group_norm
    group_norm native_batch_norm batch_norm _native_batch_norm_legit_no_training rms_norm _fused_rms_norm avg_pool1d
    avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d index_add index_add_ scatter_add
    scatter_add_ scatter_reduce cdist _cdist_forward trace dist mse_loss l1_loss nll_loss kl_div trapezoid diff
    cumulative_trapezoid scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_attention_math upsample_bilinear2d embedding_bag""".split()
)

_LOGARITHMS_OF_SUMS = frozenset("log_softmax _log_softmax logsumexp logaddexp".split())
"""Whose sum is at least 1, so that its logarithm is off by an ulp of 1 however near to 0 it is."""

_UNDERFLOWING = frozenset("exp exp_ exp2 sigmoid sigmoid_ softmax _softmax erfc pow pow_".split())
"""Whose results below the least normal number may be rounded to zero, as vector kernels do."""

_EITHER_ZERO = frozenset(
    """maximum minimum fmax fmin max min amax amin aminmax cummax cummin sort topk clamp clamp_ clamp_min clamp_max
    max_pool1d max_pool2d max_pool2d_with_indices""".split()
)
"""Whose choice between zeros of both signs depends on the dtype, the length and the order in eager PyTorch itself."""


class Perturbed(TorchDispatchMode):
    """Operations as eager PyTorch does them, with random errors of one ulp; `touched` says which results have any."""

    def __init__(self, seed: int, flips_zeros: bool = False) -> None:
        super().__init__()
        self._flips_zeros = flips_zeros
        self.generator = torch.Generator().manual_seed(seed)
        self._touched: dict[int, Tensor] = {}

    def touched(self, value: Any) -> bool:
        """Whether a result comes from an operation that rounds."""
        return isinstance(value, Tensor) and value.untyped_storage()._cdata in self._touched  # pyright: ignore

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        name = str(func).partition(".")[2].partition(".")[0]
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        changed = func._schema.is_mutable
        is_exact = name in _EXACT
        is_rounded = name in _ROUNDED
        given = (args, kwargs)
        floats = any(each.is_floating_point() or each.is_complex() for each in inputs)
        if floats and not is_exact and not is_rounded and name in _ACCUMULATING:
            first = args[0] if changed else None
            given = tree_map_only(Tensor, lambda each: each if each is first else self.nudged(each), given)
        result = func(*given[0], **given[1])
        results = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        touches = not is_exact and any(each.is_floating_point() for each in results)
        if touches or any(self.touched(each) for each in inputs):
            for each in results:
                self._touched[each.untyped_storage()._cdata] = each  # pyright: ignore[reportPrivateUsage]
        if not touches:
            return tree_map_only(Tensor, self.either_zero, result) if name in _EITHER_ZERO else result
        is_composed = not is_rounded and name not in _ACCUMULATING
        scale = _largest(inputs) if is_composed else None
        if name in _LOGARITHMS_OF_SUMS:
            scale = max(_largest(inputs), 1.0)

        def spoilt(value: Tensor) -> Tensor:
            moved = self.nudged(value if scale is None else self.shifted(value, scale))
            return _normal(moved, self.generator) if name in _UNDERFLOWING else moved

        if changed:
            with torch.no_grad():
                results[0].copy_(spoilt(results[0]))
            return result
        spoiled = tree_map_only(Tensor, spoilt, result)
        for old, new in zip(results, (leaf for leaf in tree_leaves(spoiled) if isinstance(leaf, Tensor)), strict=True):
            if new is not old:
                self._touched[new.untyped_storage()._cdata] = new  # pyright: ignore[reportPrivateUsage]
        return spoiled

    def either_zero(self, value: Tensor) -> Tensor:
        """Every zero of the other sign, or of either at random."""
        if not value.is_floating_point():
            return value
        zeros = -value
        if not self._flips_zeros:
            zeros = torch.randint(0, 2, value.shape, generator=self.generator).mul_(2).sub_(1).to(value.dtype) * 0
        made = torch.where(value == 0, zeros, value)
        if self.touched(value):
            self._touched[made.untyped_storage()._cdata] = made  # pyright: ignore[reportPrivateUsage]
        return made

    def nudged(self, value: Tensor) -> Tensor:
        """Every finite element other than zero one ulp up or down."""
        integer = _INTEGERS.get(value.dtype)
        if integer is None:
            return value
        steps = torch.randint(0, 2, value.shape, generator=self.generator).mul_(2).sub_(1).to(integer)
        moved = (value.contiguous().view(integer) + steps).view(value.dtype)
        return torch.where(value.isfinite() & (value != 0), moved, value)

    def shifted(self, value: Tensor, scale: float) -> Tensor:
        """Every element by an ulp of `scale`."""
        if not value.is_floating_point():
            return value
        steps = torch.randint(0, 2, value.shape, generator=self.generator).mul_(2).sub_(1)
        return value + (steps * (scale * torch.finfo(value.dtype).eps)).to(value.dtype)


def _normal(value: Tensor, generator: torch.Generator) -> Tensor:
    """Elements below the least normal number replaced by zero or that number."""
    if not value.is_floating_point():
        return value
    tiny = torch.finfo(value.dtype).tiny
    choice = torch.randint(0, 2, value.shape, generator=generator) * tiny
    return torch.where(value.abs() < tiny, choice.to(value.dtype), value)


_INTEGERS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def _largest(inputs: list[Tensor]) -> float:
    """The largest finite magnitude of the inputs."""
    largest = 0.0
    for each in inputs:
        if each.is_floating_point() and each.numel():
            finite = each[each.isfinite()]
            largest = max(largest, float(finite.abs().max()) if finite.numel() else 0.0)
    return largest


def samples(run: Callable[[], list[Tensor]], seed: int) -> tuple[list[list[Tensor]], list[bool]]:
    """What a program gives with other roundings, and which of its results any operation rounded.

    A sample that fails, or that has other types (by another way through the program), counts as one without values.
    """
    found: list[list[Tensor]] = []
    touched: list[bool] = []
    for number in range(SAMPLES):
        mode = Perturbed(seed + number, flips_zeros=number == 0)
        with torch.no_grad(), mode:
            results = run()
        found.append(results)
        now = [mode.touched(each) for each in results]
        touched = now if not touched else [a or b for a, b in zip(touched, now, strict=True)]
    return found, touched


def disagreement(result: Tensor, reference: Tensor, others: list[Tensor], touched: bool) -> str | None:
    """How a result is wrong against eager's, in words; None where it agrees within what roundings can do."""
    if result.dtype != reference.dtype or result.shape != reference.shape:
        return f"{result.dtype} {list(result.shape)}, eager {reference.dtype} {list(reference.shape)}"
    if not touched:
        bad = ~_same_bits(result, reference)
        for other in others:
            if other.shape != reference.shape or other.dtype != reference.dtype:
                return None
            bad &= _same_bits(other, reference)
    else:
        bad = ~_within(result, reference, others)
    if not bad.any():
        return None
    place = tuple(int(index) for index in bad.nonzero()[0])
    return (
        f"{int(bad.sum())} of {bad.numel()} elements; at {list(place)}: {result[place].item()!r}, "
        f"eager {reference[place].item()!r}" + ("" if touched else " (nothing rounds)")
    )


def _same_bits(result: Tensor, reference: Tensor) -> Tensor:
    same = result == reference
    if result.is_floating_point():
        same = (same & (torch.signbit(result) == torch.signbit(reference))) | (result.isnan() & reference.isnan())
    return same


def _within(result: Tensor, reference: Tensor, others: list[Tensor]) -> Tensor:
    """Elements within the tolerance, or for which the samples show that there is none."""
    wide, exact = _wide(result), _wide(reference)
    same = (wide == exact) | (wide.isnan() & exact.isnan())
    spread = torch.zeros_like(exact)
    unstable = torch.zeros_like(same)
    for other in others:
        if other.shape != reference.shape or other.dtype != reference.dtype:
            return torch.ones_like(same)
        sample = _wide(other)
        unstable |= sample.isfinite() != exact.isfinite()
        unstable |= sample.isnan() != exact.isnan()
        unstable |= ~exact.isfinite() & ~exact.isnan() & (sample != exact)
        spread = torch.maximum(spread, (sample - exact).abs().nan_to_num(0.0, float("inf"), 0.0))
    if not reference.dtype.is_floating_point:
        return same | (spread > 0)
    limits = torch.finfo(reference.dtype)
    # The errors put into one element may cancel in every sample: no element need be nearer than most of them are.
    finite = spread[spread.isfinite()]
    usual = float(finite.median()) if finite.numel() else 0.0
    bound = SAFETY * spread.clamp_min(usual / 2) + FLOOR_ULPS * limits.eps * exact.abs() + limits.tiny
    return same | unstable | ((wide - exact).abs() <= bound)


def _wide(value: Tensor) -> Tensor:
    return value.to(torch.float64) if value.dtype != torch.int64 else value
