"""Programs that change tensors or give them back, for every front end; all but those with control flow."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.mutation_table import Programs, one, square, two, x34

PROGRAMS = Programs()
program = PROGRAMS.add


# -- arguments that change --------------------------------------------------------------------------------------------


@program(one)
def add_one(x: Any) -> Any:
    return x.add_(1)


@program(one)
def add_one_and_give_nothing_of_it(x: Any) -> Any:
    x.add_(1)
    return x.sum()


@program(one)
def set_column(x: Any) -> Any:
    x[..., 0] = 1
    return x * 2


@program(one)
def set_row_by_number(x: Any) -> Any:
    x[1] = -3.5
    return x


@program(two)
def set_slice(x: Any, y: Any) -> Any:
    x[:, 1:3] = y[:, :2]
    return x


@program(one)
def set_strided_slice(x: Any) -> Any:
    x[::2, ::3] = 9
    return x + 0


@program(two)
def augmented(x: Any, y: Any) -> Any:
    x += y
    x *= 2
    x -= 1
    return x


@program(one)
def write_through_a_view(x: Any) -> Any:
    y = x[0]
    y.zero_()
    return x.clone()


@program(one)
def write_through_views_of_views(x: Any) -> Any:
    y = x.t()[1:3]
    z = y.reshape(2, 3)[:, 0]
    z.fill_(7)
    y.mul_(2)
    return z + 1, x.sum(0)


@program(one)
def read_view_after_base_changes(x: Any) -> Any:
    y = x[1]
    x.mul_(3)
    return y + 1


@program(one)
def copy_and_give_the_copy(x: Any) -> Any:
    out = x + 1
    x.copy_(out)
    return out


@program(two)
def swap(x: Any, y: Any) -> Any:
    old = x.clone()
    x.copy_(y)
    y.copy_(old)


@program(square)
def diagonal(x: Any) -> Any:
    x.diagonal().fill_(0)
    return x.sum()


@program(square)
def diagonal_of_slice(x: Any) -> Any:
    x[1:, :3].diagonal().add_(100)
    return x.sum()


@program(one)
def relu_in_place(x: Any) -> Any:
    return F.relu(x, inplace=True)


@program(one)
def sigmoid_then_new(x: Any) -> Any:
    x.sigmoid_()
    return x * 2, x.exp()


@program(lambda: (x34(), x34() > 0))
def masked(x: Any, mask: Any) -> Any:
    x.masked_fill_(mask, -1)
    return x


@program(lambda: (x34(), x34() > 0))
def masked_by_index(x: Any, mask: Any) -> Any:
    x[mask] = 2.0
    return x + 1


@program(lambda: (x34(), torch.tensor([2, 0]), torch.ones(2, 4)))
def indexed(x: Any, places: Any, rows: Any) -> Any:
    x[places] = rows
    return x[0]


@program(lambda: (x34(), torch.tensor([0, 2, 2]), torch.ones(3, 4)))
def index_add(x: Any, places: Any, rows: Any) -> Any:
    return x.index_add_(0, places, rows)


@program(lambda: (torch.zeros(3, 4), torch.tensor([[0, 1, 2, 0]])))
def scatter(x: Any, index: Any) -> Any:
    x.scatter_(0, index, 5.0)
    return x


@program(two)
def lerp_and_clamp(x: Any, y: Any) -> Any:
    x.lerp_(y, 0.25).clamp_(-1, 1)
    return y


@program(one)
def chain_of_in_place(x: Any) -> Any:
    return x.add_(1).mul_(2).neg_()


@program(two)
def out_argument(x: Any, y: Any) -> Any:
    torch.add(x, 1, out=y)
    return y


@program(one)
def only_a_part_is_given(x: Any) -> Any:
    x.add_(1)
    return x[1, 1:3]


@program(two)
def two_change(x: Any, y: Any) -> Any:
    x.add_(y)
    y.add_(x)
    return x - y


@program(lambda: ({"a": x34(), "b": [x34(), x34()]},))
def nested_arguments(tree: Any) -> Any:
    tree["a"].add_(tree["b"][0])
    tree["b"][1][0] = 4
    return tree["a"], tree["b"][1]


# -- dtypes, empty, 0-d, strides --------------------------------------------------------------------------------------


@program(lambda: (x34(torch.float16), x34()))
def half(x: Any, y: Any) -> Any:
    x.add_(y)
    return x


@program(lambda: (x34(torch.bfloat16),))
def bfloat(x: Any) -> Any:
    x[:, 0].mul_(1.5)
    return x


@program(lambda: (x34(torch.float64),))
def double(x: Any) -> Any:
    x.sqrt_()
    return x.isnan()


@program(lambda: (x34(torch.int64), x34(torch.int32)))
def integers(x: Any, y: Any) -> Any:
    x += y
    y[0] = 9
    return x // 2


@program(lambda: (x34(torch.uint8), x34(torch.int8)))
def bytes_wrap(x: Any, y: Any) -> Any:
    x.mul_(50)
    y.mul_(50)
    return x, y


@program(lambda: (x34() > 0, x34() > 2))
def bools(x: Any, y: Any) -> Any:
    x.logical_and_(y)
    y[0] = True
    return x


@program(lambda: (x34(torch.int32) > 0, x34(torch.int32)))
def bitwise(x: Any, y: Any) -> Any:
    x &= y > 3
    y |= 1
    y ^= 2
    return x


@program(lambda: (torch.tensor(3.0),))
def zero_dim(x: Any) -> Any:
    x.add_(1)
    return x * x


@program(lambda: (torch.tensor(3),))
def zero_dim_counter(x: Any) -> Any:
    x += 1
    return x


@program(lambda: (torch.zeros(0, 3), torch.zeros(3)))
def empty(x: Any, y: Any) -> Any:
    x.add_(1)
    y += x.sum(0)
    return x, y


@program(lambda: (x34().t(),))
def transposed(x: Any) -> Any:
    x[0] = 5
    return x.add_(1)


@program(lambda: (torch.arange(24.0).reshape(4, 6)[::2, 1::2],))
def with_gaps(x: Any) -> Any:
    x[:, 1] = -1
    return x.mul_(2)


@program(lambda: (torch.arange(24.0).reshape(4, 6)[1:, 2:5].t(),))
def with_gaps_and_transposed(x: Any) -> Any:
    x[1:, 0].add_(10)
    return x[0], x


@program(lambda: (x34().t(),))
def reshape_copies(x: Any) -> Any:
    y = x.reshape(-1)
    y.add_(1)
    return y


@program(one)
def reshape_views(x: Any) -> Any:
    y = x.reshape(-1)
    y.add_(1)
    return y


@program(lambda: (torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)).to(
    memory_format=torch.channels_last),))  # fmt: skip
def channels_last(x: Any) -> Any:
    x[:, 1].relu_()
    return x


@program(lambda: (torch.tensor([0.0, -0.0, float("nan"), float("inf")]),))
def special_values(x: Any) -> Any:
    x[1:].neg_()
    return x


# -- results that are arguments or views of them ----------------------------------------------------------------------


@program(one)
def identity(x: Any) -> Any:
    return x


@program(one)
def view(x: Any) -> Any:
    return x.view(-1)


@program(one)
def row(x: Any) -> Any:
    return x[0]


@program(one)
def many_views(x: Any) -> Any:
    return x.t(), x[1:], x[:, ::2], x.unsqueeze(0), x.expand(2, 3, 4)


@program(two)
def one_of_two(x: Any, y: Any) -> Any:
    return {"x": x, "sum": x + y, "views": [y[0], y]}


@program(lambda: (x34().t(),))
def views_of_transposed(x: Any) -> Any:
    return x.t(), x[0], x.contiguous(), x.reshape(12)


@program(one)
def itself_by_other_names(x: Any) -> Any:
    return x.contiguous(), x.to(torch.float32), F.dropout(x, 0.5, False), x.detach(), x.view(3, 4)


@program(one)
def shared_results(x: Any) -> Any:
    y = x * 2
    return y, y[0], y.t()


@program(one, doors="export dynamo")
def shared_results_reshaped_in_place(x: Any) -> Any:
    y, z = x * 2, x + 1
    row = y[0]
    return y.t_(), row, z.unsqueeze_(1), z, x.view(-1)


@program(one)
def shared_results_of_a_hidden_base(x: Any) -> Any:
    a, b = (x * 2).split(2, 1)
    a.add_(1)
    return a, b


@program(one)
def the_same_result_twice(x: Any) -> Any:
    y = x + 1
    return y, [y, y.add_(1)]


@program(lambda: (torch.zeros(0, 4),))
def empty_view(x: Any) -> Any:
    return x[0:], x.t()


@program(lambda: (torch.tensor(2.0),))
def zero_dim_view(x: Any) -> Any:
    return x.unsqueeze(0), x


# -- arguments that share memory --------------------------------------------------------------------------------------


def _same() -> tuple[Any, ...]:
    x = x34()
    return x, x


def _overlapping() -> tuple[Any, ...]:
    x = torch.arange(8.0)
    return x[:6], x[2:]


def _row_of() -> tuple[Any, ...]:
    x = x34()
    return x, x[1]


@program(_same)
def same_tensor_twice(x: Any, y: Any) -> Any:
    x.add_(y)
    return y * 2


@program(_same)
def same_tensor_twice_unchanged(x: Any, y: Any) -> Any:
    return x - 2 * y, y


@program(_overlapping)
def overlapping_views(x: Any, y: Any) -> Any:
    x.mul_(2)
    return y + x


@program(_overlapping)
def overlapping_views_both_change(x: Any, y: Any) -> Any:
    x.add_(1)
    y.mul_(10)
    x[0] = -1
    return x, y


@program(_row_of)
def a_row_of_the_other(x: Any, row: Any) -> Any:
    row.fill_(0)
    x += row.clone()
    return x.sum(), row


@program(lambda: (lambda x: (x, x.t()))(torch.arange(9.0).reshape(3, 3)))
def transposed_of_the_other(x: Any, y: Any) -> Any:
    x[0] = 7
    return y * 2


@program(lambda: (lambda x: (x[:, :2], x[:, 2:], torch.ones(3, 2)))(x34()))
def interleaved_but_apart(x: Any, y: Any, z: Any) -> Any:
    x.add_(y)
    y.add_(z)
    return x + y


# -- buffers ----------------------------------------------------------------------------------------------------------


class Buffers(nn.Module):
    count: Tensor
    sums: Tensor
    fixed: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("sums", torch.zeros(3, 4))
        self.register_buffer("fixed", torch.full((4,), 2.0))


class Tied(nn.Module):
    a: Tensor
    b: Tensor
    row: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(3, 4))
        self.register_buffer("b", self.a)
        self.register_buffer("row", self.a[1])


@program(one, Buffers)
def counter(m: Any, x: Any) -> Any:
    m.count += 1
    return x * m.count


@program(one, Buffers)
def counter_in_place(m: Any, x: Any) -> Any:
    m.count.add_(1)
    m.sums.add_(x)
    return m.sums / m.count


@program(one, Buffers)
def buffer_replaced(m: Any, x: Any) -> Any:
    m.sums = m.sums + x
    m.count = m.count + 1
    return x + m.sums


@program(one, Buffers)
def buffer_replaced_and_given(m: Any, x: Any) -> Any:
    m.sums = torch.tanh(m.sums + x)
    return m.sums


@program(one, Buffers)
def buffer_given(m: Any, x: Any) -> Any:
    m.sums.copy_(x)
    return m.sums, m.fixed


@program(one, Buffers)
def view_of_a_buffer_given(m: Any, x: Any) -> Any:
    m.sums[1] = x[0]
    return m.sums[1], m.fixed[:2]


@program(lambda: (torch.ones(4), torch.tensor(1)), Buffers)
def cache(m: Any, row: Any, position: Any) -> Any:
    m.sums.index_copy_(0, position.reshape(1), row.unsqueeze(0))
    return m.sums @ row


@program(one, Tied)
def tied_buffers(m: Any, x: Any) -> Any:
    m.b.add_(x)
    return m.a + m.row


@program(
    lambda: (torch.randn(4, 3, 5, 5, generator=torch.Generator().manual_seed(1)),),
    lambda: nn.Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(inplace=True)).train(),
)
def batch_norm_in_training(m: Any, x: Any) -> Any:
    return m(x)


@program(lambda: (torch.randn(8, 5, generator=torch.Generator().manual_seed(1)),), lambda: nn.BatchNorm1d(5, 1e-3, 0.3))
def batch_norm_1d(m: Any, x: Any) -> Any:
    return m(x)
