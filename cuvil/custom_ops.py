"""Operations of the user's own: `cuvil.register_op` says what an op means and how it is computed.

    cuvil.register_op("mylib::add_relu", reference=lambda x, y: np.maximum(x + y, 0), lowering="max(x + y, 0)")

The op is a torch custom op (`torch.library.custom_op`); in IR it is `cuvil_tensor.custom @"mylib::add_relu"(%x, %y)`.
One of three things computes it:

- `decomposition`: a function of torch ops, traced for the operands at hand;
- `lowering`: for each target the text of a scalar expression, or a function of a `CoreBuilder` and values;
- `callback`: a function that compiled code calls with buffers; nothing is fused with it.

`reference` is the op's meaning in NumPy: the interpreter's, and what `--validate` compares the lowering with. The
functions take the op's tensors in the order of its schema, and everything else by name. This module knows neither
torch nor the compiler, so that registering is cheap.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cuvil.errors import UserError

Lowering: TypeAlias = "str | Callable[..., Any]"

TARGETS = ("cpu", "cuda")
_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")
_TENSORS = ("Tensor",)


class CustomOpError(UserError):
    """A custom op that cannot be registered, or that is used other than it was registered."""


@dataclass(frozen=True)
class RegisteredOp:
    """What is known of a custom op."""

    name: str
    decomposition: Callable[..., Any] | None = None
    lowering: Mapping[str, Lowering] = field(default_factory=dict[str, Lowering])
    reference: Callable[..., Any] | None = None
    callback: Callable[..., Any] | None = None
    result: Callable[..., Any] | None = None

    @property
    def is_opaque(self) -> bool:
        """Whether compiled code on the CPU calls back for it."""
        return self.callback is not None

    @property
    def parameters(self) -> list[str]:
        """The names of the op's arguments, as its reference declares them."""
        return list(inspect.signature(self.reference).parameters) if self.reference is not None else []

    def fingerprint(self) -> str:
        """Equal for registrations that compute the same, as far as code tells: part of the semantic hash."""
        parts = [self.name]
        for part in (self.decomposition, *(self.lowering[target] for target in sorted(self.lowering)), self.callback):
            parts.append(part if isinstance(part, str) else _code_of(part))
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()

    def unregister(self) -> None:
        """Forget the op; code that was compiled with it stays."""
        if _REGISTERED.get(self.name) is self:
            del _REGISTERED[self.name]


_REGISTERED: dict[str, RegisteredOp] = {}


def register_op(
    name: str,
    *,
    decomposition: Callable[..., Any] | None = None,
    lowering: Lowering | Mapping[str, Lowering] | None = None,
    reference: Callable[..., Any] | None = None,
    callback: Callable[..., Any] | None = None,
    result: Callable[..., Any] | None = None,
    check: Sequence[Sequence[Any]] = (),
) -> RegisteredOp:
    """Make the torch op `name` (`"mylib::add_relu"`) known to every front end, to text and to the interpreter.

    `result` gives the shapes of the results from those of the tensors (`lambda x, y: [x]`), for text that no torch op
    stands behind. `check` are arguments on which the torch op, the reference and the lowering must agree.

    Raises `CustomOpError` for a malformed or known name, for none or several ways to compute the op, for functions
    that do not take the op's arguments, and where `check` finds a difference.
    """
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CustomOpError(f"'{name}' is no name of an op: it is 'library::op', as torch.library.custom_op takes it")
    if name in _REGISTERED:
        raise CustomOpError(f"op '{name}' is registered already; unregister that one first")
    functions = {"decomposition": decomposition, "reference": reference, "callback": callback, "result": result}
    for what, function in functions.items():
        if function is not None and not callable(function):
            raise CustomOpError(f"op '{name}': {what} is a function, got {type(function).__name__}")
    by_target = {} if lowering is None else lowering
    lowerings: dict[str, Any] = dict(by_target) if isinstance(by_target, Mapping) else {"cpu": by_target}
    for target, each in lowerings.items():
        if target not in TARGETS:
            raise CustomOpError(f"op '{name}': unknown target '{target}' of a lowering; known: {', '.join(TARGETS)}")
        if not isinstance(each, str) and not callable(each):
            raise CustomOpError(f"op '{name}': a lowering is an expression or a function, got {type(each).__name__}")
    ways = [way for way, given in (("decomposition", decomposition), ("callback", callback)) if given is not None] + (
        ["lowering"] if "cpu" in lowerings else []
    )
    if len(ways) != 1:
        said = f"got {' and '.join(ways)}" if ways else "got none of them"
        raise CustomOpError(f"op '{name}' needs one of decomposition, callback and a lowering for cpu; {said}")
    if ways == ["lowering"] and reference is None:
        raise CustomOpError(f"op '{name}' has a lowering and no reference: give its meaning in NumPy")
    op = RegisteredOp(name, decomposition, lowerings, reference, callback, result)
    _check_expressions(op)
    _check_signature(op)
    _REGISTERED[name] = op
    try:
        if check:
            from cuvil.frontends.custom_check import check_samples

            check_samples(op, check)
    except BaseException:
        del _REGISTERED[name]
        raise
    return op


def unregister_op(name: str) -> None:
    """Forget an op. Raises `CustomOpError` if there is none of that name."""
    registered(name).unregister()


def find_op(name: str) -> RegisteredOp | None:
    """The op registered under a name, or None."""
    return _REGISTERED.get(name)


def registered(name: str) -> RegisteredOp:
    """The op registered under a name. Raises `CustomOpError` if there is none."""
    found = _REGISTERED.get(name)
    if found is None:
        raise CustomOpError(f"op '{name}' is not registered; call cuvil.register_op('{name}', ...) before")
    return found


_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def refused_result(dtype: Any, wanted: str) -> str | None:
    """Why an array of a NumPy dtype is no result of the kind `wanted` ("b", "i", "u" or "f"); None where it is one.

    Other widths are converted; what would lose a fraction, an imaginary part or a number is a mistake.
    """
    if dtype.name == "bfloat16":
        return None if wanted == "f" else "it gave bfloat16, expected whole numbers"
    if _KINDS.get(dtype.kind, 4) <= _KINDS[wanted]:
        return None
    expected = {"b": "bools", "i": "whole numbers", "u": "whole numbers", "f": "real numbers"}[wanted]
    return f"it gave an array of {dtype.name}, expected {expected}"


def check_arguments(op: RegisteredOp, tensors: int, names: Sequence[str]) -> None:
    """Refuse functions that do not take `tensors` positional arguments and keywords of these names."""
    functions = {"reference": op.reference, "decomposition": op.decomposition, "callback": op.callback}
    for target, each in op.lowering.items():
        functions[f"lowering for {target}"] = None if isinstance(each, str) else each
    for what, function in functions.items():
        if function is None:
            continue
        extra = 1 if what.startswith("lowering") else 0
        try:
            inspect.signature(function).bind(*([None] * (tensors + extra)), **dict.fromkeys(names))
        except ValueError:
            continue  # a function of C's that does not say what it takes
        except TypeError as error:
            taken = f"{'a builder and ' if extra else ''}{tensors} tensor(s)"
            more = f" and by name {', '.join(names)}" if names else ""
            raise CustomOpError(f"op '{op.name}': the {what} must take {taken}{more}: {error}") from None


def _check_expressions(op: RegisteredOp) -> None:
    for text in op.lowering.values():
        if isinstance(text, str):
            from cuvil.semantics.custom_expressions import parse

            parse(op.name, text, op.parameters)


def _check_signature(op: RegisteredOp) -> None:
    """Compare with the torch op's schema, if torch is there and has the op."""
    torch: Any = sys.modules.get("torch")
    library, _, rest = op.name.partition("::")
    packet = getattr(getattr(getattr(torch, "ops", None), library, None), rest.partition(".")[0], None)
    if packet is None:
        return
    schema = getattr(packet, rest.partition(".")[2] or packet.overloads()[0])._schema
    if schema.is_mutable:
        raise CustomOpError(f"op '{op.name}' changes its arguments; only ops that return new tensors are compiled")
    for argument in schema.arguments:
        if "List[" in str(argument.type) and "Tensor" in str(argument.type):
            raise CustomOpError(
                f"op '{op.name}': its argument '{argument.name}' is a list of tensors; pass them one by one"
            )
    tensors = [argument.name for argument in schema.arguments if str(argument.type) in _TENSORS]
    others = [argument.name for argument in schema.arguments if argument.name not in tensors]
    check_arguments(op, len(tensors), others)


def _code_of(function: Any) -> str:
    """What tells functions apart that do something else: their code, constants and defaults."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(type(function))
    constants = [_code_of(each) if hasattr(each, "co_code") else repr(each) for each in code.co_consts]
    cells = [repr(cell.cell_contents) for cell in getattr(function, "__closure__", None) or ()]
    return repr((code.co_code.hex(), constants, code.co_names, getattr(function, "__defaults__", None), cells))
