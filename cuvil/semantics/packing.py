"""Static packing: offsets for blocks of memory with known lifetimes in one arena, small and near-linear in time.

The problem (dynamic storage allocation) is NP-hard. Two heuristics are run, and the smaller arena is taken:

- *in order of time*, a best-fit allocator with coalescing of free gaps, simulated: O(n log n);
- *in order of size*, the largest first, each in the tightest gap left by those placed before that are live with it
  (greedy by size; Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5): it
  needs all pairs that are live at once, and is run only where these are few enough; likewise in two other orders.

Search stops as soon as the lower bound is met: the most bytes that are live at any one time.

Where sizes are symbolic, offsets cannot be told apart, and blocks share whole *slots* instead (`share_slots`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

MAXIMUM_PAIRS = 2_000_000
"""How many pairs of blocks live at once the packing by size may look at, over all of its orders: about two seconds."""


@dataclass(frozen=True, slots=True)
class Block:
    """Memory of `size` bytes needed in the half-open interval of time from `begin` to `end`."""

    begin: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Packing:
    """An offset for each block, in the order given, and the size of an arena that holds them."""

    offsets: tuple[int, ...]
    size: int


def lower_bound(blocks: Sequence[Block]) -> int:
    """The most bytes live at any one time: no arena is smaller."""
    live = most = 0
    for _, is_begin, number in _events(blocks):
        live += blocks[number].size if is_begin else -blocks[number].size
        most = max(most, live)
    return most


def pack(blocks: Sequence[Block], maximum_pairs: int = MAXIMUM_PAIRS) -> Packing:
    """Offsets such that no two blocks live at once overlap. Sizes should be multiples of the alignment wanted."""
    bound = lower_bound(blocks)
    best = pack_by_time(blocks)
    if best.size == bound:
        return best
    neighbours, pairs = _live_together(blocks, maximum_pairs)
    for order in _ORDERS:
        maximum_pairs -= pairs
        if neighbours is None or maximum_pairs < 0:
            break
        best = min(best, _pack_in_order(blocks, order(blocks), neighbours), key=lambda packing: packing.size)
        if best.size == bound:
            break
    return best


def pack_apart(blocks: Sequence[Block]) -> Packing:
    """Every block at its own place, one after another."""
    offsets: list[int] = []
    size = 0
    for block in blocks:
        offsets.append(size)
        size += block.size
    return Packing(tuple(offsets), size)


def share_slots(blocks: Sequence[Block]) -> list[int]:
    """A slot for each block, such that no two blocks of a slot are live at once; sizes are typical ones.

    A slot is as large as the largest of its blocks. The largest block chooses first, the smallest slot that is free
    while it lives (the shared objects of Pisarchyk and Lee, section 4).
    """
    taken: list[list[tuple[int, int]]] = []
    slots = [0] * len(blocks)
    for number in _by_size(blocks):
        block = blocks[number]
        # Later slots were opened by smaller blocks: the last that is free is the tightest.
        for slot in range(len(taken) - 1, -1, -1):
            if _is_free(taken[slot], block):
                break
        else:
            slot = len(taken)
            taken.append([])
        insort(taken[slot], (block.begin, block.end))
        slots[number] = slot
    return slots


def _is_free(taken: Sequence[tuple[int, int]], block: Block) -> bool:
    place = bisect_left(taken, (block.begin, block.end))
    before, after = taken[place - 1 : place], taken[place : place + 1]
    return not (before and before[0][1] > block.begin) and not (after and after[0][0] < block.end)


def pack_by_time(blocks: Sequence[Block]) -> Packing:
    """Best fit in the order of time."""
    gaps = _Gaps()
    offsets = [0] * len(blocks)
    for _, is_begin, number in _events(blocks):
        if is_begin:
            offsets[number] = gaps.take(blocks[number].size)
        else:
            gaps.give(offsets[number], blocks[number].size)
    return Packing(tuple(offsets), gaps.top)


def _events(blocks: Sequence[Block]) -> list[tuple[int, bool, int]]:
    """Begins and ends (time, is begin, number of the block) in order of time, ends first. Empty blocks have none."""
    events = [
        event
        for number, block in enumerate(blocks)
        if block.begin < block.end and block.size
        for event in ((block.begin, True, number), (block.end, False, number))
    ]
    return sorted(events)


class _Gaps:
    """The free gaps below the top of the arena, by size and by both of their ends."""

    def __init__(self) -> None:
        self.top = 0
        self._by_size: list[tuple[int, int]] = []
        self._end_of: dict[int, int] = {}
        self._start_of: dict[int, int] = {}

    def take(self, size: int) -> int:
        """The offset of `size` bytes: in the tightest gap, else at the top."""
        place = bisect_left(self._by_size, (size, 0))
        if place < len(self._by_size):
            _, start = self._by_size[place]
            end = self._remove(start)
            if start + size < end:
                self._add(start + size, end)
            return start
        # A gap at the top is too small, yet the arena need grow only by what it lacks.
        start = self._start_of.get(self.top, self.top)
        if start < self.top:
            self._remove(start)
        self.top = start + size
        return start

    def give(self, start: int, size: int) -> None:
        """Free `size` bytes at `start`, joined with the gaps beside them."""
        end = start + size
        if end in self._end_of:
            end = self._remove(end)
        before = self._start_of.get(start)
        if before is not None:
            self._remove(before)
            start = before
        self._add(start, end)

    def _add(self, start: int, end: int) -> None:
        insort(self._by_size, (end - start, start))
        self._end_of[start] = end
        self._start_of[end] = start

    def _remove(self, start: int) -> int:
        end = self._end_of.pop(start)
        del self._start_of[end]
        del self._by_size[bisect_left(self._by_size, (end - start, start))]
        return end


def _live_together(blocks: Sequence[Block], maximum_pairs: int) -> tuple[list[list[int]] | None, int]:
    """For each block the others live at the same time, and the number of pairs; None if there are too many."""
    neighbours: list[list[int]] = [[] for _ in blocks]
    live: dict[int, None] = {}
    pairs = 0
    for _, is_begin, number in _events(blocks):
        if not is_begin:
            del live[number]
            continue
        pairs += len(live)
        if pairs > maximum_pairs:
            return None, pairs
        for other in live:
            neighbours[number].append(other)
            neighbours[other].append(number)
        live[number] = None
    return neighbours, pairs


def _by_size(blocks: Sequence[Block]) -> Iterator[int]:
    """The largest first; of equals the longest-lived."""
    return iter(sorted(range(len(blocks)), key=lambda n: (-blocks[n].size, blocks[n].begin - blocks[n].end, n)))


def _by_area(blocks: Sequence[Block]) -> Iterator[int]:
    """The largest product of size and duration first."""
    return iter(sorted(range(len(blocks)), key=lambda n: (blocks[n].size * (blocks[n].begin - blocks[n].end), n)))


def _by_peak(blocks: Sequence[Block]) -> Iterator[int]:
    """From the peak outwards: by the nearness to the time when most bytes are live; of equals the largest first."""
    live = most = peak = 0
    for time, is_begin, number in _events(blocks):
        live += blocks[number].size if is_begin else -blocks[number].size
        if live > most:
            most, peak = live, time
    queue: list[tuple[int, int, int]] = []
    for number, block in enumerate(blocks):
        distance = max(block.begin - peak, peak - block.end + 1, 0)
        heappush(queue, (distance, -block.size, number))
    while queue:
        yield heappop(queue)[2]


_ORDERS: tuple[Callable[[Sequence[Block]], Iterator[int]], ...] = (_by_size, _by_area, _by_peak)


def _pack_in_order(blocks: Sequence[Block], order: Iterator[int], neighbours: Sequence[Sequence[int]]) -> Packing:
    """Each block in the tightest gap between the blocks placed before it that are live with it, else above them."""
    offsets = [-1] * len(blocks)
    top = 0
    for number in order:
        size = blocks[number].size
        placed = sorted((offsets[other], blocks[other].size) for other in neighbours[number] if offsets[other] >= 0)
        offset = offsets[number] = _tightest(placed, size)
        top = max(top, offset + size)
    return Packing(tuple(offsets), top)


def _tightest(placed: Sequence[tuple[int, int]], size: int) -> int:
    """The start of the smallest gap between `placed` (offset, size) that takes `size`, else the end of the last."""
    end = 0
    best: tuple[int, int] | None = None
    for offset, length in placed:
        gap = offset - end
        if gap >= size and (best is None or gap < best[0]):
            best = (gap, end)
        end = max(end, offset + length)
    return end if best is None else best[1]
