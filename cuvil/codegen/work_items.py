"""Running a heavy kernel's work items: over the threads, or one after the other where the work is too little for that.

Which of the two is decided at compile time where the amount of work is known, else when the kernel runs:

    worth = work >= least
    for part in parallel(worth ? count : 1):
        for item = part to (worth ? part + 1 : count): body
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import SSAValue

from cuvil.codegen.loops import Index, LoopBuilder


@contextmanager
def work_items(b: LoopBuilder, count: Index, work: Index, least: int) -> Generator[Index]:
    """The body for each of `count` items, over the threads if the `work` of all of them is at least `least`."""
    if count == 1:
        yield 0
    elif is_certainly_less(b, work, least):
        with b.for_(0, count) as loop:
            yield loop.index
    elif is_certainly_at_least(b, work, least):
        with b.parallel(count) as item:
            yield item
    else:
        is_worth_it = b.compare_index("sge", work, least)
        with b.parallel(b.select(is_worth_it, b.index(count), b.index(1))) as part:
            end = b.select(is_worth_it, b.index(b.add(part, 1)), b.index(count))
            with b.for_(part, end) as loop:
                yield loop.index


def is_certainly_less(b: LoopBuilder, number: Index, bound: int) -> bool:
    """Whether number < bound whatever the symbols are."""
    return not isinstance(number, SSAValue) and b.is_at_least(bound - 1, number)


def is_certainly_at_least(b: LoopBuilder, number: Index, bound: int) -> bool:
    """Whether number >= bound whatever the symbols are."""
    return not isinstance(number, SSAValue) and b.is_at_least(number, bound)


def divides(b: LoopBuilder, divisor: int, number: Index) -> bool:
    """Whether `number` is a multiple of `divisor` whatever the symbols are."""
    return not isinstance(number, SSAValue) and b.environment.is_multiple_of(number, divisor)
