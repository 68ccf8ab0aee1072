"""What TorchScript's ops on plain values mean: numbers, strings, lists and dicts, of which tensors may be parts.

Numbers may be ones that only the running program knows (`Number`): arithmetic on them is traced. Tensors' properties
(sizes, dtypes) are known when the graph is read; dtypes are TorchScript's integers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from cuvil.errors import UnsupportedError
from cuvil.frontends.source import numbers
from cuvil.frontends.source.calls import check_known
from cuvil.frontends.source.numbers import Number, number_of_tensor

DTYPES: tuple[torch.dtype, ...] = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
    torch.complex32, torch.complex64, torch.complex128, torch.bool, torch.qint8, torch.quint8, torch.qint32,
    torch.bfloat16,
)  # fmt: skip
"""Dtypes by TorchScript's number."""
LAYOUTS = (torch.strided, torch.sparse_coo)
MEMORY_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d)

_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "__and__": operator.and_,
    "__or__": operator.or_,
    "__xor__": operator.xor,
    "__lshift__": operator.lshift,
    "__rshift__": operator.rshift,
}


def on_values(name: str, args: tuple[Any, ...]) -> Any:
    """The result of an op called `name` without its namespace; NotImplemented where it is one on tensors."""
    if any(isinstance(each, Number) for each in args) and not any(isinstance(each, Tensor) for each in args):
        found = _on_numbers(name, args)
        if found is not NotImplemented:
            return found
    function = _VALUES.get(name)
    if function is None or not _fits(name, args):
        return NotImplemented
    return function(*args)


def _fits(name: str, args: tuple[Any, ...]) -> bool:
    """Whether an op's row is for these arguments: those of containers must have one, those of tensors a tensor."""
    first = args[0] if args else None
    if name in _OF_NO_TENSORS and any(isinstance(arg, Tensor) for arg in args):
        return False
    if name in _OF_CONTAINERS:
        return isinstance(first, list | dict | str | tuple)
    return isinstance(first, Tensor) if name in _OF_TENSORS else True


def _on_numbers(name: str, args: tuple[Any, ...]) -> Any:
    if name in _ARITHMETIC and len(args) == 2:
        return numbers.binary(_ARITHMETIC[name], *args)
    if name in ("Int", "Float", "Bool"):
        return numbers.converted(args[0], {"Int": int, "Float": float, "Bool": bool}[name])
    if name == "__not__":
        return numbers.logical_not(args[0])
    if name == "neg":
        return numbers.unary(operator.neg, args[0])
    if name in ("NumToTensor", "tensor"):
        return args[0].tensor.to(torch.get_default_dtype()) if args[0].kind is float else args[0].tensor
    if name in ("floor", "ceil", "sqrt", "exp", "log", "abs") and len(args) == 1:
        return Number(getattr(torch, name)(args[0].tensor.to(torch.float64 if name != "abs" else args[0].tensor.dtype)))
    return NotImplemented


# -- tensors ---------------------------------------------------------------------------------------------------------


def _size(x: Tensor, dim: int | None = None) -> Any:
    return list(x.shape) if dim is None else x.shape[dim]


def _number(kind: type | None) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if isinstance(value, Tensor):
            return number_of_tensor(value, kind)
        return value if kind is None else kind(value)

    return convert


# -- containers ------------------------------------------------------------------------------------------------------


def _item(container: Any, key: Any) -> Any:
    if isinstance(key, Number):
        raise UnsupportedError("an element of a list is picked by a number known at run time; stack them in a tensor")
    value = container[key]
    check_known(value)
    return value


def _set_item(container: Any, key: Any, value: Any) -> Any:
    container[key] = value
    return container


def _delete(container: Any, key: Any) -> None:
    del container[key]


def _append(items: list[Any], value: Any) -> Any:
    check_known(items)
    items.append(value)
    return items


def _extend(items: list[Any], others: list[Any]) -> Any:
    check_known(items)
    items.extend(others)
    return items


def _slice_list(items: Any, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return items[start:end:step]


def _length(value: Any) -> Any:
    check_known(value)
    return len(value)


_OF_CONTAINERS = frozenset(
    "append extend insert clear reverse pop remove index count copy keys values items get setdefault update len slice "
    "list dict __contains__ __getitem__ _set_item __delitem__ Delete".split()
)
_OF_NO_TENSORS = frozenset("min max floor ceil sqrt str format percentFormat __not__".split())
_OF_TENSORS = frozenset("size numel dim ndimension is_floating_point stride layout device dtype requires_grad".split())

_VALUES: dict[str, Callable[..., Any]] = {
    # of tensors
    "size": _size,
    "shape": _size,
    "numel": lambda x: x.numel(),
    "dim": lambda x: x.dim(),
    "ndimension": lambda x: x.dim(),
    "stride": lambda x, dim=None: list(x.stride()) if dim is None else x.stride(dim),
    "is_floating_point": lambda x: x.is_floating_point(),
    "is_complex": lambda x: x.is_complex(),
    "is_contiguous": lambda x, *_: x.is_contiguous(),
    "dtype": lambda x: DTYPES.index(x.dtype),
    "device": lambda x: torch.device(x) if isinstance(x, str) else torch.device("cpu"),
    "layout": lambda x: 0,
    "is_cuda": lambda x: False,
    "is_quantized": lambda x: False,
    "is_mkldnn": lambda x: False,
    "is_sparse": lambda x: False,
    "is_mps": lambda x: False,
    "is_xpu": lambda x: False,
    "requires_grad": lambda x: True,
    # As if gradients were wanted: layers then take the way of plain ops, not that of their fused kernels.
    "is_grad_enabled": lambda: True,
    "is_scripting": lambda: True,
    "is_autocast_enabled": lambda: False,
    "is_autocast_cpu_enabled": lambda: False,
    "item": _number(None),
    "Int": _number(int),
    "Float": _number(float),
    "Bool": _number(bool),
    "IntImplicit": _number(int),
    "FloatImplicit": _number(float),
    "ScalarImplicit": _number(None),
    "ImplicitTensorToNum": _number(None),
    # of containers
    "len": lambda value: _length(value),
    "slice": _slice_list,
    "append": _append,
    "extend": _extend,
    "insert": lambda items, place, value: items.insert(place, value),
    "clear": lambda items: items.clear(),
    "reverse": lambda items: items.reverse(),
    "pop": lambda items, *place: items.pop(*place),
    "remove": lambda items, value: items.remove(value),
    "copy": lambda items: items.copy(),
    "keys": lambda held: list(held.keys()),
    "values": lambda held: list(held.values()),
    "items": lambda held: [(key, value) for key, value in held.items()],
    "get": lambda held, key, default=None: held.get(key, default),
    "setdefault": lambda held, key, default: held.setdefault(key, default),
    "update": lambda held, other: held.update(other),
    "__contains__": lambda held, key: key in held,
    "__getitem__": _item,
    "_set_item": _set_item,
    "__delitem__": _delete,
    "Delete": _delete,
    "list": list,
    "dict": lambda items=(): dict(items),
    "__range_length": lambda start, stop, step: len(range(start, stop, step)),
    "__derive_index": lambda index, start, step: start + index * step,
    "min": lambda *args: min(*args),
    "max": lambda *args: max(*args),
    # of all values
    "__is__": operator.is_,
    "__isnot__": operator.is_not,
    "__not__": operator.not_,
    "str": str,
    "format": lambda text, *args: text.format(*args),
    "percentFormat": lambda text, *args: text % args,
    "join": lambda text, parts: text.join(parts),
    "unchecked_cast": lambda value: value,
    "unchecked_unwrap_optional": lambda value: value,
    "_unwrap_optional": lambda value: value,
    "warn": lambda *_: None,
    "Print": lambda *_: None,
    "floor": lambda x: math.floor(x),
    "ceil": lambda x: math.ceil(x),
    "sqrt": lambda x: math.sqrt(x),
    "manual_seed": lambda *_: None,
}


def plain_result(name: str, args: tuple[Any, ...]) -> Any:
    """What an op gives of plain values alone, by PyTorch's own definition; NotImplemented where it has none."""
    if name in _ARITHMETIC and len(args) == 2:
        return _ARITHMETIC[name](*args)
    jit: Any = getattr(torch, "_C")  # noqa: B009  the operators of TorchScript have no public name
    try:
        function, _ = cast("tuple[Any, Any]", jit._jit_get_operation(f"aten::{name}"))
    except RuntimeError:
        return NotImplemented
    return NotImplemented if function is None else function(*args)
