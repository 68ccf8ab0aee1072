"""Expressions of random programs: templates of torch's functions, filled in with variables that fit.

A template names operands in braces. The first is the *subject*: `{n}` numeric, `{f}` floating, `{i}` integer, `{b}`
bool, `{a}` any, with a least rank behind the letter (`{n2}`). The other names are drawn to fit it; see `_Filler`.
Whatever eager PyTorch refuses (an op that a dtype lacks) is dropped by who asked for the expression.

Left out is what eager PyTorch does not define or does by accident of a kernel: conversions of NaN and of what is out of
range to integers, division of integers by zero, shifts by negative amounts, attention and `gelu` of infinities (whose
vector kernels give 0 for NaN, and NaN for infinity).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

Draw = Callable[..., Any]

NUMBERS = (0, 1, 2, 0.5, -1, 3, -1.5, 2.0, 0.0, -0.0, 7, 1e-3)

UNARY = """
{n}.relu() | -{n} | {n}.abs() | torch.exp({n}.clamp(-20, 10)) | torch.sigmoid({n}) | torch.tanh({n}) | torch.sqrt({n})
torch.rsqrt({n}.abs() + 0.5) | torch.sin({n}) | torch.cos({n}) | torch.log({n}) | torch.log1p({n}) | torch.expm1({n})
torch.erf({n}) | torch.erfc({n}) | torch.exp2({n}.clamp(-20, 10)) | torch.log2({n}) | torch.log10({n})
torch.tan({n}) | torch.asin({n}) | torch.acos({n}) | torch.atan({n}) | torch.sinh({n}) | torch.cosh({n})
torch.asinh({n}) | torch.acosh({n}) | torch.atanh({n}) | torch.reciprocal({n}) | torch.square({n}) | torch.sign({n})
torch.floor({n}) | torch.ceil({n}) | torch.round({n}) | torch.trunc({n}) | torch.frac({f}) | torch.positive({n})
torch.sgn({n}) | F.gelu({f}.clamp(-50, 50)) | F.silu({f}) | F.softplus({f}) | F.elu({f}) | F.leaky_relu({f}, 0.1)
F.hardswish({f}) | F.relu6({f})
F.hardsigmoid({f}) | F.mish({f}) | F.logsigmoid({f}) | F.selu({f}) | F.softsign({f}) | F.hardtanh({f})
F.celu({f}) | F.gelu({f}.clamp(-50, 50), approximate='tanh')
F.tanhshrink({f}) | F.softshrink({f}) | F.hardshrink({f})
F.threshold({f}, 0.5, 2.0) | {n}.clamp({number}, 5) | {n}.clamp(min={number}) | {n}.clamp(max={number})
torch.nan_to_num({n}) | {n} ** 2 | {n} ** 3 | {f} ** 0.5 | {f} ** -1 | torch.deg2rad({n}) | torch.isnan({n})
torch.isinf({n}) | torch.isfinite({n}) | torch.signbit({n}) | torch.logical_not({a}) | ~{q} | {n}.bool()
torch.zeros_like({a}) | torch.full_like({n}, {number}) | torch.ones_like({a}) | {a}.clone() | {a}.contiguous()
"""

BINARY = """
{n} + {like} | {n} - {like} | {n} * {like} | {n} / {like} | {like} - {n} | {like} / ({n} * 0 + 2) | {n} + {number}
{n} * {number} | {n} - {number} | {number} - {n} | {n} / {number} | {number} / {n} | {n} // {nonzero}
{n} % {nonzero} | {n} // ({like}.abs().clamp(max=9) + 1) | {n} % ({like}.abs().clamp(max=9) + 1)
torch.fmod({n}, {nonzero}) | torch.maximum({n}, {like}) | torch.minimum({n}, {like}) | torch.fmax({n}, {like})
torch.fmin({n}, {like}) | torch.atan2({f}, {like}) | torch.hypot({f}, {f}) | torch.copysign({f}, {like})
{f}.abs() ** {like}.clamp(-2, 2) | torch.add({n}, {like}, alpha=2) | torch.sub({n}, {like}, alpha=3)
torch.div({n}, {nonzero}, rounding_mode='floor') | torch.div({n}, {nonzero}, rounding_mode='trunc')
torch.lerp({f}, {f} * 2, 0.25) | torch.addcmul({f}, {f}, {f}, value=2) | {n} < {like} | {n} >= {like} | {n} == {like}
{n} != {like} | {n} > {number} | {n} <= {number} | {a} == {anylike} | {q} & {likeq} | {q} | {likeq} | {q} ^ {likeq}
torch.logical_and({a}, {anylike}) | torch.logical_or({a}, {anylike}) | torch.logical_xor({a}, {anylike})
{i} << ({likei} & 3) | {i} >> ({likei} & 3) | {b} + {like} | {b} * {like} | torch.where({n} > {number}, {n}, {like})
torch.where({b}, {like}, {like}) | torch.where({b}, {like}, {number}) | {a}.masked_fill({a} == {number}, 1)
torch.heaviside({f}, {f}) | torch.xlogy({f}, {f}.abs()) | {n} == {n} | torch.where({n} > {like}, {number}, {number})
torch.remainder({number}, {i}.abs().clamp(max=9) + 1)
"""

MOVEMENT = """
{a2}.t() | {a2}.transpose({dim}, {dim}) | {a}.permute({order}) | {a}.reshape(-1) | {a}.reshape({reshaped})
{a}.flatten() | {a}.unsqueeze({newdim}) | {a}.squeeze() | {a1}[{index}] | {a1}[{index}] | {a1}[{index}]
{a1}.narrow({dim}, 0, 1) | {a1}.flip({dim}) | {a1}.roll(1, {dim}) | torch.cat([{a1}, {same}], {dim})
torch.stack([{a}, {same}], {newdim}) | torch.cat([{a1}, {a1}, {a1}.flip(0)], 0) | {a}.expand({expanded})
{a}.unsqueeze(0).expand(3, *{a}.shape) | {a1}.repeat({repeats}) | {a1}.chunk(2, {dim})[0] | {a1}.split(2, {dim})[-1]
{a1}.unbind({dim})[0] | {a2}.diagonal() | {a1}.select({dim}, -1) | {a2}.tril() | {a2}.triu(1) | F.pad({n1}, (1, 2))
F.pad({n1}, (0, -1)) | F.pad({n1}, (2, 0), value=1.5) | {a1}.unfold({dim}, 1, 1) | {a1}.unfold(-1, 2, 1)
{a1}[{list}] | {a1}[torch.tensor({list})] | {a1}[..., None] | torch.index_select({a1}, 0, torch.tensor({list}))
torch.gather({n1}, {dim}, torch.zeros_like({n1}, dtype=torch.int64)) | {a1}.repeat_interleave(2, {dim})
{a2}.movedim(0, -1) | {a2}.flatten(0, 1) | {a2}.mT | {a}.view(-1) | torch.tile({a1}, (2,))
{a1}.as_strided((2, 2), (1, 1)) | torch.take_along_dim({n1}, torch.argsort({n1}, dim={dim}, stable=True), dim={dim})
{a2}[{list}, :1] | {a2}[:, {list1}] | torch.rot90({a2}) | {a2}.swapaxes(0, 1).contiguous() | {a}.view({reshaped})
"""

REDUCTION = """
{a}.sum() | {n1}.sum({dim}) | {n1}.sum({dims}, keepdim={keep}) | {f}.mean() | {f1}.mean({dims}, keepdim={keep})
{n1}.amax({dims}, keepdim={keep}) | {n1}.amin({dims}, keepdim={keep}) | {n}.max() | {n}.min() | {n1}.max({dim}).values
{n1}.min({dim}, keepdim={keep}).values | {n}.clamp(-2, 2).prod() | {n1}.clamp(-2, 2).prod({dim}, keepdim={keep})
{a}.any() | {a}.all() | {a1}.any({dim}) | {a1}.all({dim}, keepdim={keep}) | {n1}.argmax({dim})
{n1}.argmin({dim}, keepdim={keep}) | {n}.argmax() | {f1}.var({dims}) | {f1}.std({dim}, keepdim={keep})
{f1}.softmax({dim}) | {f1}.log_softmax({dim}) | {f1}.logsumexp({dim}) | {n1}.cumsum({dim})
{n1}.clamp(-2, 2).cumprod({dim}) | {f1}.norm() | {f1}.norm(dim={dim}) | {n1}.sort({dim}).values
{n1}.sort({dim}, descending=True).values | torch.topk({n1}, 1, {dim}).values
torch.argsort({n1}, dim={dim}, stable=True) | {n1}.cummax({dim}).values | {n1}.cummin({dim}).values
{n}.count_nonzero() | {n1}.clamp(-3, 3).cumsum({dim}) | {f1}.abs().sum({dims}) | ({n} != {number}).sum()
F.layer_norm({f1}, {last}) | F.normalize({f1}, dim={dim}) | {f1}.nansum({dim}) | {n1}.sum({dim}, dtype=torch.float64)
torch.aminmax({n1}, dim={dim}).min | {f1}.var({dim}, correction=0) | F.rms_norm({f1}, {last}) | {a1}.sum({dim})
"""

PRODUCT = """
{n2} @ {matrix} | {n1} @ {matrix} | torch.matmul({n2}, {n2}.mT) | F.linear({f1}, {rows}) | torch.mv({f2}[0], {f1})
torch.einsum('...i,...j->...ij', {n1}, {n1}) | torch.einsum('ij,kj->ik', {f2}, {rows}) | torch.outer({f1}, {f1})
torch.dot({n1}, {n1}) | torch.bmm({f2}[None], {f2}.mT[None]) | F.avg_pool1d({f2}[None], 2)
F.max_pool1d({f2}[None], 2) | F.conv1d({f2}[None], {f2}[None, :, :2]) | torch.addmm({f}, {f2}, {f2}.mT)
({n2}.mT @ {n2}) * {number} | F.scaled_dot_product_attention(*[{f2}[None].nan_to_num(0, 1, -1)] * 3)
{f2}.mT.matmul({f2}) + {number} | F.max_pool2d({f2}[None, None], 2)
F.conv2d({f2}[None, None], {f2}[None, None, :2, :2].nan_to_num(0, 1, -1), padding=1)
"""

CAST = """
{a}.to({float}) | {a}.to({float}) | {i}.to({integer}) | {b}.to({integer}) | {a}.bool() | {q}.to({integer})
{n}.type_as({like}) | torch.nan_to_num({f}, 0.5, 3.0, -3.0).clamp(-100, 100).to({signed}) | {a}.double() | {f}.half()
{f}.bfloat16() | torch.nan_to_num({f}).clamp(0, 200).to(torch.uint8) | {f}.bool().int()
torch.arange(5, dtype={float}) + {n}.sum() | torch.arange(3) | torch.tensor([1.5, -2.0, 0.25])
torch.full((2, 3), {number}) | torch.tensor({number}) * {n} | {a}.float()
"""

SCATTER = """
{a1}.index_fill(0, torch.tensor({list1}), 1)
torch.scatter({n1}, {dim}, torch.zeros_like({n1}, dtype=torch.int64)[:1], 2)
torch.slice_scatter({n1} + 0, {n1}[:1] + 0, 0, 0, 1) | torch.select_scatter({n1} + 0, {n1}[0] * 2, 0, 0)
torch.index_put({n1}, (torch.tensor({list1}),), torch.tensor(3).to({n1}.dtype))
torch.masked_fill({n}, {n} < 0, {number}) | {n1}.index_add(0, torch.tensor([0, 0]), torch.stack([{n1}[0], {n1}[0]]))
{n1}.scatter_add({dim}, torch.zeros_like({n1}, dtype=torch.int64), {n1})
"""


def _templates(text: str) -> tuple[str, ...]:
    # A bar with a space on each side parts templates; the operator `|` is written `{q} | {likeq}`.
    whole = text.replace("{q} | {likeq}", "{q} \0 {likeq}")
    parts = [part.strip() for line in whole.strip().splitlines() for part in line.split(" | ")]
    return tuple(part.replace("\0", "|") for part in parts if part)


FAMILIES: tuple[tuple[str, ...], ...] = tuple(
    _templates(text) for text in (UNARY, BINARY, MOVEMENT, REDUCTION, PRODUCT, CAST, SCATTER)
)
_WEIGHTS = (0, 1, 1, 1, 2, 2, 2, 3, 3, 0, 4, 5, 6)

_NAME = re.compile(r"\{(\w+)\}")
_SUBJECT = re.compile(r"([nfibaq])(\d?)")

_KINDS: Mapping[str, Callable[[Tensor], bool]] = {
    "n": lambda each: each.dtype != torch.bool,
    "f": lambda each: each.is_floating_point(),
    "i": lambda each: not each.is_floating_point() and each.dtype != torch.bool,
    "b": lambda each: each.dtype == torch.bool,
    "q": lambda each: not each.is_floating_point(),
    "a": lambda each: True,
}


def expression(draw: Draw, values: Mapping[str, Tensor], subject: str | None = None) -> str | None:
    """A random expression over the variables; of `subject`, if one is given. None where nothing fits the template."""
    templates = FAMILIES[draw(st.sampled_from(_WEIGHTS))]
    return filled(draw, draw(st.sampled_from(templates)), values, subject)


def filled(draw: Draw, template: str, values: Mapping[str, Tensor], subject: str | None = None) -> str | None:
    """A template with its operands in place; None where no variable fits."""
    filler = _Filler(draw, values, subject)
    try:
        return _NAME.sub(lambda found: filler.text(found[1]), template)
    except LookupError:
        return None


@dataclass
class _Filler:
    draw: Draw
    values: Mapping[str, Tensor]
    subject: str | None
    chosen: dict[str, str] = field(default_factory=dict[str, str])
    first: Tensor | None = None

    def text(self, name: str) -> str:
        """What stands for a name; a subject's letter means the same variable everywhere in a template."""
        found = _SUBJECT.fullmatch(name)
        if found is None:
            return str(getattr(self, "_" + name)())
        if name not in self.chosen:
            self.chosen[name] = self._variable(found[1], int(found[2] or 0))
        return self.chosen[name]

    def _variable(self, kind: str, rank: int) -> str:
        fits = [name for name, each in self.values.items() if _KINDS[kind](each) and each.dim() >= rank]
        if self.subject in fits and self.first is None:
            fits = [self.subject]
        name = self._pick(fits[::-1])
        if self.first is None:
            self.first = self.values[name]
        return name

    def _pick(self, names: list[Any]) -> Any:
        if not names:
            raise LookupError
        return names[0] if len(names) == 1 else self.draw(st.sampled_from(names))

    def _shape(self) -> tuple[int, ...]:
        assert self.first is not None, "a template starts with its subject"
        return tuple(self.first.shape)

    # -- other operands ----------------------------------------------------------------------------------------------

    def _like(self, kind: str = "n") -> str:
        """A variable that broadcasts with the subject."""
        if self.first is None:
            return self._variable(kind, 0)
        return self._pick(
            [n for n, v in self.values.items() if _KINDS[kind](v) and _broadcasts(v.shape, self._shape())]
        )

    def _likei(self) -> str:
        return self._like("i")

    def _likeq(self) -> str:
        return self._like("q")

    def _anylike(self) -> str:
        return self._like("a")

    def _same(self) -> str:
        return self._pick([name for name, each in self.values.items() if tuple(each.shape) == self._shape()])

    def _matrix(self) -> str:
        """A right factor of a matrix product."""
        assert self.first is not None
        size, dtype = self._dims_of_subject()[-1], self.first.dtype
        fits = [n for n, v in self.values.items() if v.dtype == dtype and v.dim() and v.shape[-min(v.dim(), 2)] == size]
        return self._pick(fits)

    def _rows(self) -> str:
        assert self.first is not None
        size, dtype = self._dims_of_subject()[-1], self.first.dtype
        return self._pick(
            [n for n, v in self.values.items() if v.dtype == dtype and v.dim() == 2 and v.shape[1] == size]
        )

    def _number(self) -> str:
        return repr(self.draw(st.sampled_from(NUMBERS)))

    def _nonzero(self) -> str:
        return repr(self.draw(st.sampled_from((2, 3, -2, 7, 0.5, -1.5))))

    # -- positions ---------------------------------------------------------------------------------------------------

    def _dims_of_subject(self) -> tuple[int, ...]:
        """The subject's shape, which has a dim."""
        if not self._shape():
            raise LookupError
        return self._shape()

    def _dim(self) -> int:
        rank = len(self._dims_of_subject())
        return self.draw(st.integers(-rank, rank - 1))

    def _newdim(self) -> int:
        return self.draw(st.integers(0, len(self._shape())))

    def _dims(self) -> str:
        rank = len(self._dims_of_subject())
        return str(tuple(sorted(self.draw(st.sets(st.integers(0, rank - 1), min_size=1, max_size=rank)))))

    def _keep(self) -> bool:
        return self.draw(st.booleans())

    def _last(self) -> str:
        count = self.draw(st.integers(1, len(self._dims_of_subject())))
        return str(tuple(self._shape()[-count:]))

    def _order(self) -> str:
        return str(tuple(self.draw(st.permutations(range(len(self._shape()))))))

    def _reshaped(self) -> str:
        left = 1
        for extent in self._shape():
            left *= extent
        extents: list[int] = []
        for _ in range(self.draw(st.integers(0, 2))):
            divisors = [number for number in range(1, min(left, 40) + 1) if left % number == 0]
            extents.append(self.draw(st.sampled_from(divisors or [1])))
            left //= extents[-1]
        return str((*extents, left))

    def _expanded(self) -> str:
        shape = [self.draw(st.sampled_from((1, 3, 4))) if extent == 1 else extent for extent in self._shape()]
        return str(tuple(shape))

    def _repeats(self) -> str:
        return str(tuple(self.draw(st.sampled_from((1, 2, 1, 3))) for _ in self._shape()))

    def _list(self, longest: int = 3) -> str:
        """Positions in the subject's first dim."""
        extent = self._dims_of_subject()[0]
        if not extent:
            raise LookupError
        count = self.draw(st.integers(1, longest))
        return str([self.draw(st.integers(-extent, extent - 1)) for _ in range(count)])

    def _list1(self) -> str:
        return self._list(1)

    def _index(self) -> str:
        """A basic index: numbers, slices, None and an ellipsis."""
        parts: list[str] = []
        for extent in self._shape()[: self.draw(st.integers(1, len(self._dims_of_subject())))]:
            kind = self.draw(st.sampled_from(("slice", "all", "slice", "number", "new")))
            if kind == "number" and extent:
                parts.append(str(self.draw(st.integers(-extent, extent - 1))))
            elif kind == "slice":
                start = self.draw(st.sampled_from(("", "1", "-2", "0")))
                stop = self.draw(st.sampled_from(("", "-1", "3", "5")))
                parts.append(f"{start}:{stop}" + self.draw(st.sampled_from(("", "", ":2", ":3"))))
            else:
                parts.append(":" if kind == "all" else "None")
        if self.draw(st.integers(0, 4)) == 4:
            parts.insert(0, "...") if parts.count("None") == 0 and len(parts) == 1 else parts.append("...")
        return ", ".join(parts)

    # -- dtypes ------------------------------------------------------------------------------------------------------

    def _float(self) -> str:
        return self.draw(st.sampled_from(("torch.float32", "torch.float64", "torch.float16", "torch.bfloat16")))

    def _integer(self) -> str:
        return self.draw(st.sampled_from(("torch.int64", "torch.int32", "torch.int16", "torch.int8", "torch.uint8")))

    def _signed(self) -> str:
        return self.draw(st.sampled_from(("torch.int64", "torch.int32", "torch.int16", "torch.int8")))


def _broadcasts(shape: Any, other: tuple[int, ...]) -> bool:
    pairs = zip(reversed(tuple(shape)), reversed(other), strict=False)
    return all(a == b or a == 1 or b == 1 for a, b in pairs)
