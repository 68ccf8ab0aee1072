"""x / pi modulo 2 for any finite x (Payne and Hanek, SIGNUM Newsletter 18, 1983), in float arithmetic.

1 / pi is cut into chunks so short that a product with x is exact, or exact as a product and its fma error. Each product
is taken modulo 2 at once, which is exact too; whole multiples of 2 thus vanish whatever their size.

f32 is computed in f64: a chunk of 29 bits times 24 bits is exact, and seven chunks cover the exponent range. f64 has
exponents up to 1023, so that only a window of five chunks of 53 bits matters: those before it contribute multiples of
2, those after it less than the result's last bit. The window is found by shifting the list of chunks by one binary
digit of its position after the other, a select for each element that stays.
"""

from __future__ import annotations

from functools import cache
from math import ldexp
from typing import NamedTuple

from xdsl.dialects.builtin import f32, f64

from cuvil.codegen.vector_math_lanes import Lanes

_CHUNK_BITS_F32 = 29
_CHUNKS_F32 = 7
_CHUNK_BITS_F64 = 53
_WINDOW_F64 = 5
_CHUNKS_F64 = 23
# x is scaled down by this power and the chunks up, so that the last chunks are normal numbers.
_SCALE_F64 = 512


class Turns(NamedTuple):
    """x / pi modulo 2, in [-1, 1], as an unevaluated sum whose high part alone is exact to the type's precision."""

    high: Lanes
    low: Lanes


def turns_modulo_two(x: Lanes) -> Turns:
    """x / pi modulo 2; NaN for an infinity."""
    return _turns_f32(x) if x.bits == 32 else _turns_f64(x)


@cache
def inverse_pi_chunks(chunk_bits: int, count: int, scale: int = 0) -> tuple[float, ...]:
    """2^scale / pi as a sum of floats: number i is binary digits [i * chunk_bits, (i + 1) * chunk_bits) of 1 / pi."""
    total_bits = chunk_bits * count
    digits = (1 << (2 * total_bits)) // _pi_times_power_of_two(total_bits)
    mask = (1 << chunk_bits) - 1
    ends = [(i + 1) * chunk_bits for i in range(count)]
    return tuple(ldexp((digits >> (total_bits - end)) & mask, scale - end) for end in ends)


def _pi_times_power_of_two(exponent: int) -> int:
    """floor(pi * 2^exponent), by Machin's 16 atan(1/5) - 4 atan(1/239) in integers."""
    guard = 64
    one = 1 << (exponent + guard)

    def atan_inverse(number: int) -> int:
        term = total = one // number
        divisor = 1
        while term:
            term //= -number * number
            divisor += 2
            total += term // divisor
        return total

    return (16 * atan_inverse(5) - 4 * atan_inverse(239)) >> guard


def _modulo_two(x: Lanes) -> Lanes:
    """x less the nearest multiple of 2, exactly."""
    return (x * 0.5).round_even().fma(-2.0, x)


def _turns_f32(x: Lanes) -> Turns:
    wide = x.extend(f64)
    total = wide.like(0.0)
    for chunk in inverse_pi_chunks(_CHUNK_BITS_F32, _CHUNKS_F32):
        total = _modulo_two(total + _modulo_two(wide * chunk))
    high = total.truncate(f32)
    return Turns(high, (total - high.extend(f64)).truncate(f32))


def _turns_f64(x: Lanes) -> Turns:
    scaled = x * 2.0**-_SCALE_F64
    total = rest = x.like(0.0)
    for chunk in _window(x):
        product = scaled * chunk
        error = scaled.fma(chunk, -product)
        for part in (_modulo_two(product), _modulo_two(error)):
            total, lost = _two_sum(total, part)
            total, rest = _modulo_two(total), rest + lost
    return Turns(*_two_sum(total, rest))


def _two_sum(a: Lanes, b: Lanes) -> tuple[Lanes, Lanes]:
    """a + b rounded, and its rounding error."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def _window(x: Lanes) -> list[Lanes]:
    """The chunks of 1 / pi, scaled, whose products with x matter modulo 2."""
    form = x.format
    exponent = ((x.as_bits() >> form.mantissa_bits) & ((1 << (form.bits - form.mantissa_bits - 1)) - 1)) - form.bias
    # A product with chunk i is a multiple of 2^(exponent - 52 - 53 (i + 1)). The first chunk that is not skipped is
    # floor((exponent - 53) / 53); the division by 53 is a multiplication: exact for exponents below 1024.
    skipped = ((exponent - form.mantissa_bits - 1).max_signed(0) * 1237).logical_right(16)
    window = [x.like(chunk) for chunk in inverse_pi_chunks(_CHUNK_BITS_F64, _CHUNKS_F64, _SCALE_F64)]
    for digit in (16, 8, 4, 2, 1):
        is_shifted = (skipped & digit).compare("ne", 0)
        kept = min(_WINDOW_F64 + digit - 1, len(window))
        window = [
            is_shifted.select(window[i + digit], window[i]) if i + digit < len(window) else window[i]
            for i in range(kept)
        ]
    return window
