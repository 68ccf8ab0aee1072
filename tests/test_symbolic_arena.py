"""Plans of buffers of symbolic sizes: sound at every size, as small as packing makes them where sizes compare."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from cuvil.passes._symbolic_arena import Buffer, Place, SymbolicArena, lay_out
from cuvil.semantics.dims import DimExpr, ShapeEnvironment, SymbolRange, symbol
from cuvil.semantics.packing import Block, lower_bound, share_slots

RANGES = {"a": SymbolRange(0, 9), "b": SymbolRange(2, 64, multiple_of=2), "c": SymbolRange(1, None)}
SIZES = [{"a": 0, "b": 2, "c": 1}, {"a": 9, "b": 64, "c": 700}, {"a": 3, "b": 10, "c": 2}, {"a": 9, "b": 2, "c": 30}]
A, B, C = symbol("a"), symbol("b"), symbol("c")


@st.composite
def buffers(draw: st.DrawFn) -> list[Buffer]:
    made: list[Buffer] = []
    for _ in range(draw(st.integers(1, 12))):
        begin = draw(st.integers(0, 20))
        size = draw(st.sampled_from([A * B, A, B, C, A * B * C, B + 3, A * 2 + B])) * draw(
            st.sampled_from([1, 4, 64, 192])
        )
        assert isinstance(size, DimExpr)
        made.append(Buffer(begin, begin + draw(st.integers(1, 8)), size))
    return made


def begin_of(plan: SymbolicArena, place: Place, sizes: dict[str, int]) -> int:
    symbolic = place.symbolic if isinstance(place.symbolic, int) else place.symbolic.evaluate(sizes)
    maxima = [max(d if isinstance(d, int) else d.evaluate(sizes) for d in maximum) for maximum in plan.maxima]
    return place.known + symbolic + sum(maxima[: place.behind])


@given(buffers(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_buffers_live_at_once_are_apart_at_every_size(made: list[Buffer], reuse: bool) -> None:
    plan = lay_out(made, ShapeEnvironment(dict(RANGES)), first=128, alignment=64, reuse=reuse)
    for sizes in SIZES:
        begins = [begin_of(plan, place, sizes) for place in plan.places]
        ends = [begin + each.size.evaluate(sizes) for begin, each in zip(begins, made, strict=True)]
        assert all(begin >= 128 and begin % 64 == 0 for begin in begins)
        assert max(ends) <= plan.evaluate(sizes)
        for one, other in combinations(range(len(made)), 2):
            is_live = made[one].begin < made[other].end and made[other].begin < made[one].end
            if is_live or not reuse:
                assert ends[one] <= begins[other] or ends[other] <= begins[one]


def test_multiples_of_one_expression_are_packed_as_numbers_are() -> None:
    # Two small buffers, each live with another of three, fit beside each other where a large one was.
    unit = A * B * 64
    factors = [(0, 2, 4), (2, 5, 2), (2, 6, 2), (5, 8, 2), (6, 8, 2)]
    made = [Buffer(begin, end, size) for begin, end, k in factors if isinstance(size := unit * k, DimExpr)]
    plan = lay_out(made, ShapeEnvironment(dict(RANGES)), first=0, alignment=64, reuse=True)
    bound = lower_bound([Block(begin, end, k) for begin, end, k in factors])
    assert plan.end.symbolic == unit * bound


@given(buffers())
def test_slots_hold_one_live_block_at_a_time(made: list[Buffer]) -> None:
    blocks = [Block(each.begin, each.end, each.size.evaluate(SIZES[1])) for each in made]
    slots = share_slots(blocks)
    for one, other in combinations(range(len(blocks)), 2):
        if slots[one] == slots[other]:
            assert blocks[one].end <= blocks[other].begin or blocks[other].end <= blocks[one].begin
