"""Programs whose branches and loops on tensors change tensors, for the front ends that compile control flow."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from tests.mutation_programs import Buffers
from tests.mutation_table import Programs, one, two, x34

PROGRAMS = Programs()
program = PROGRAMS.add


BOTH = "source dynamo"


@program(two, doors=BOTH)
def branch_changes_argument(x: Any, y: Any) -> Any:
    if x.sum() > y.sum():
        x.add_(100)
    else:
        y.add_(100)
    return x - y


@program(one, doors=BOTH)
def branch_chooses_argument(x: Any) -> Any:
    if x.sum() > 1000:
        y = x * 2
    else:
        y = x
    y += 1
    return y


@program(two, doors=BOTH)
def branch_chooses_one_of_two(x: Any, y: Any) -> Any:
    z = x if x.sum() > y.sum() else y
    z.zero_()
    return z, x + y


@program(one, doors=BOTH)
def branch_chooses_one_of_two_new(x: Any) -> Any:
    y, z = x * 1, x * 2
    w = y if x.sum() > 0 else z
    w += 1
    return y, z, w


@program(lambda: (x34(), torch.tensor(0)), doors=BOTH)
def loop_that_may_not_run(x: Any, n: Any) -> Any:
    y = x
    while n > 0:
        y = y * 2
        n = n - 1
    y += 1
    return y


@program(lambda: (x34(), torch.tensor(2)), doors=BOTH)
def loop_that_runs(x: Any, n: Any) -> Any:
    y = x
    while n > 0:
        y = y * 2
        n = n - 1
    y += 1
    return y


@program(lambda: (x34(), x34() + 1, torch.tensor(3)), doors=BOTH)
def loop_swaps(x: Any, y: Any, n: Any) -> Any:
    while n > 0:
        x, y = y, x
        x += 1
        n = n - 1
    y.mul_(2)
    return x, y


@program(lambda: (x34(), torch.tensor(1)), doors=BOTH)
def nested_branches(x: Any, n: Any) -> Any:
    y = x + 1
    if n > 0:
        if x.sum() > 0:
            z = y
        else:
            z = x
    else:
        z = x * 2
    z[0] = 5
    return y, z


@program(lambda: (x34(), torch.tensor(4)), doors=BOTH)
def early_return_of_an_argument(x: Any, n: Any) -> Any:
    for i in range(int(n)):
        x[0, 0] += i
        if x[0, 0] > -3:
            return x
    return x * 2


@program(lambda: ([x34()], {"seen": torch.tensor(0)}), doors="source")
def containers(items: Any, state: Any) -> Any:
    items.append(items[0] + 1)
    items[0] = items[0] * 2
    state["seen"] += 1
    state["last"] = items[1]
    return items


@program(one, doors=BOTH)
def branch_gives_argument(x: Any) -> Any:
    if x.mean() > 0:
        return F.relu(x)
    return x


@program(lambda: (x34(), torch.tensor(3)), doors=BOTH)
def loop_changes_argument(x: Any, n: Any) -> Any:
    while n > 0:
        x[0] += n
        n -= 1
    return x.sum()


@program(lambda: (x34(), torch.tensor(2)), doors=BOTH)
def loop_through_a_view(x: Any, n: Any) -> Any:
    row = x[1]
    for _ in range(int(n)):
        row.mul_(2)
    return x * 1


@program(one, Buffers, doors=BOTH)
def branch_changes_buffer(m: Any, x: Any) -> Any:
    if x.sum() > 0:
        m.count += 1
    else:
        m.count -= 1
        m.sums[0].add_(x[0])
    return x + m.count
