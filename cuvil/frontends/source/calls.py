"""Calls in functions that are read: which are read in turn, which run as they are, which mean something else here."""

from __future__ import annotations

import collections
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

import torch
from torch import Tensor, nn

from cuvil.errors import Diagnostic, SourceLocation, UnsupportedError
from cuvil.frontends.source import structures
from cuvil.frontends.source.control import Clash, is_dynamic, truth
from cuvil.frontends.source.numbers import Number, as_number, converted, number_of_tensor
from cuvil.frontends.source.outside import AttributeAssignedError, Outside
from cuvil.frontends.source.scopes import Guards, ReadFunction, Scope, bind_parameters, scope_of
from cuvil.frontends.source.syntax import SourceError, Syntax, first_unread, is_read, syntax_of
from cuvil.frontends.source.torch_control import control_function
from cuvil.frontends.source.trace import Tracer, memory_of

DEEPEST_CALL = 40
_CHANGING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard __setitem__".split()
)
_CHANGEABLE = (list, dict, set, collections.deque, bytearray)
_READING = frozenset("tolist numpy __array__ data_ptr backward".split())


class UserRaise(Exception):
    """The function raises, whatever tensors hold."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__(str(raised))
        self.raised = raised


@dataclass(frozen=True, slots=True)
class NumberRange:
    """`range` of numbers of which the running program knows some."""

    start: Any
    stop: Any
    step: int


class Readable(ABC):
    """What is no Python function, and is read in place of a call to it all the same."""

    @abstractmethod
    def read(self, reader: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call gives."""


def _script_of(function: Any) -> Any:
    """TorchScript as what is read; anything else of torch.jit as it is."""
    from cuvil.frontends.torchscript import Script, is_script

    return Script(function) if is_script(function) else function


class Calls(ABC):
    """Calls functions on behalf of the reader."""

    def __init__(self, tracer: Tracer, guards: Guards) -> None:
        self.tracer = tracer
        self.guards = guards
        self.attributes: dict[Any, Any] = {}
        """Attributes of modules that are assigned, by the module's identity and name."""
        self.frames: list[dict[Any, Any]] = [self.attributes]
        """The variables of the functions that are being read, outermost first, after those attributes."""
        self.outside = Outside()
        self.exceptions: dict[int, tuple[SourceError, Exception, Any]] = {}
        """Python's exceptions by the identity of the error that shows them, and the block that they came in."""
        self.own: list[Any] = []
        """Objects made for this reading: what may be changed."""
        tracer.reached = lambda: {
            memory_of(leaf) for frame in self.frames for leaf in structures.leaves(frame) if isinstance(leaf, Tensor)
        }

    @abstractmethod
    def run_body(self, syntax: Syntax, scope: Scope) -> Any:
        """The value that a function returns; the statements' part."""

    # -- calls -------------------------------------------------------------------------------------------------------

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: SourceLocation) -> Any:
        """What a call gives."""
        check_known((args, kwargs))
        control = control_function(function)
        if control is not None:
            return control(self, place, *args, **kwargs)
        special = self.special(function, args, kwargs)
        if special is not NotImplemented:
            return special
        if getattr(type(function), "__module__", "").startswith("torch.jit") and not isinstance(function, type):
            function = _script_of(function)
        target, args, kwargs = _unwrapped(function, args, kwargs)
        if isinstance(target, ReadFunction | Readable) or self.can_read(target):
            try:
                return self.call_read(target, args, kwargs)
            except SourceError as error:
                raise _called_from(error, place, target) from None
        if isinstance(target, nn.Sequential):
            (value,) = args
            for layer in target:
                value = self.call(layer, (value,), {}, place)
            return value
        self.check_changes(target)
        args, kwargs = _plain((args, kwargs))
        if isinstance(target, type) and is_dataclass(target):
            return self.made(target(*args, **kwargs))
        try:
            value = target(*args, **kwargs)
            return self.made(value) if isinstance(target, type) and isinstance(value, _CHANGEABLE) else value
        except (SourceError, UserRaise):
            raise
        except Exception as error:
            if isinstance(target, type) or is_read(target):
                error.__traceback__ = None
            raise

    def can_read(self, function: Any) -> bool:
        """True for a user's function with source, in constructs that are read."""
        if not is_read(function):
            return False
        syntax = syntax_of(cast(FunctionType, function))
        return syntax is not None and first_unread(syntax) is None

    def call_read(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Read a function in place of a call to it."""
        if len(self.frames) >= DEEPEST_CALL:
            raise UnsupportedError(f"calls are nested deeper than {DEEPEST_CALL}; write the recursion as a loop")
        if isinstance(function, Readable):
            return function.read(self, args, kwargs)
        if isinstance(function, ReadFunction):
            syntax, parent = function.syntax, function.scope
            scope = Scope(syntax.source, {}, self.guards, parent.globals, parent=parent)
            defaults, keyword_defaults = function.defaults, function.keyword_defaults
        else:
            found = syntax_of(function)
            if found is None:
                raise UnsupportedError(f"the source of '{function.__qualname__}' cannot be had; put it in a file")
            syntax, scope = found, scope_of(function, found, self.guards)
            defaults, keyword_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
        scope.names.update(bind_parameters(syntax, defaults, keyword_defaults, args, kwargs))
        self.frames.append(scope.names)
        try:
            return self.run_body(syntax, scope)
        finally:
            self.frames.pop()

    def superclass(self, scope: Scope) -> Any:
        """`super()` without arguments."""
        first = next(iter(scope.names.values()))
        return super(scope.get("__class__"), first)

    # -- functions that mean something else on tensors ---------------------------------------------------------------

    def special(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a built-in function on what only the running program knows, else NotImplemented."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, Tensor) and isinstance(function, BuiltinFunctionType | MethodType):
            if function.__name__ == "item":
                return number_of_tensor(owner)
            if function.__name__ in _READING:
                raise UnsupportedError(f"{function.__name__}() reads a tensor's elements; stay with tensors")
        layout = self.of_layout(function, args, kwargs)
        if layout is not NotImplemented:
            return layout
        if function is print:
            raise UnsupportedError("print would run at compile time only; remove it, or return the value")
        if function is torch.vmap or getattr(function, "__module__", None) == "torch.func":
            raise UnsupportedError(
                f"torch.{function.__name__} of a function cannot be read; write out what it computes"
            )
        if not any(is_dynamic(leaf) for leaf in structures.leaves(args)):
            return NotImplemented
        if getattr(function, "__module__", None) == "torch" and function.__name__.startswith("_check"):
            return None  # compiled code does not raise
        if function in (bool, int, float) and len(args) == 1:
            return self.conversion(function, args[0])
        if function is range:
            return _range(args)
        if function is isinstance and isinstance(args[0], Number):
            return issubclass(args[0].kind, args[1])
        if function in (any, all):
            return self.folded(torch.logical_or if function is any else torch.logical_and, args[0], function is all)
        if function in (min, max) and not kwargs:
            return self.extreme(function is max, args if len(args) > 1 else tuple(self.items(next(iter(args)))))
        if function is type and len(args) == 1 and is_dynamic(args[0]):
            return (
                args[0].kind
                if isinstance(args[0], Number)
                else Tensor
                if isinstance(args[0], Tensor)
                else NotImplemented
            )
        if function is round and isinstance(args[0], Number) and len(args) == 1:
            return number_of_tensor(torch.round(args[0].tensor.to(torch.float64)), int)
        if function is abs and isinstance(args[0], Number):
            return Number(torch.abs(args[0].tensor))
        if function is sum:
            return NotImplemented
        if getattr(function, "__module__", "") == "math" and isinstance(args[0], Number):
            return _mathematical(function, args)
        return NotImplemented

    def of_layout(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What depends on strides, of a tensor whose strides depend on the way that was taken; else NotImplemented."""
        owner = getattr(function, "__self__", None)
        tensor, rest = (owner, args) if isinstance(owner, Tensor) else (args[0], args[1:]) if args else (None, ())
        name = getattr(function, "__name__", "")
        if not isinstance(tensor, Tensor) or not self.tracer.layouts.of(tensor):
            return NotImplemented
        if name in ("stride", "is_contiguous"):
            self.tracer.layouts.check_question(name, tensor, lambda each: getattr(each, name)(*rest, **kwargs))
        if name in ("view", "view_as"):
            self.tracer.check_view(tensor, rest, kwargs)
        if name == "contiguous" and not rest and not kwargs:
            return self.tracer.contiguous(self.tracer.fake_of(tensor))
        if name == "ravel":
            return self.tracer.contiguous(self.tracer.fake_of(tensor)).reshape(-1)
        return NotImplemented

    def conversion(self, kind: Any, value: Any) -> Number:
        """int(x), float(x), bool(x)."""
        return number_of_tensor(value, kind) if isinstance(value, Tensor) else converted(value, kind)

    def folded(self, function: Callable[[Tensor, Tensor], Tensor], values: Any, start: bool) -> Number:
        """any and all."""
        result = as_number(start).tensor
        for value in self.items(values):
            known = truth(value) if is_dynamic(value) else as_number(bool(value))
            result = function(result, known.tensor)
        return Number(result)

    def extreme(self, is_max: bool, values: tuple[Any, ...]) -> Any:
        """max and min: of equal ones the first, as Python chooses."""
        best, *rest = values
        for value in rest:
            if isinstance(best, Tensor) and isinstance(value, Tensor):
                if best.numel() != 1 or value.numel() != 1:
                    raise UnsupportedError("max and min compare numbers; use torch.maximum on tensors")
                best = torch.where(value > best if is_max else value < best, value, best)
                continue
            one, other = as_number(best), as_number(value)
            better = other.tensor > one.tensor if is_max else other.tensor < one.tensor
            best = Number(torch.where(better, other.tensor, one.tensor))
        return best

    def items(self, value: Any) -> list[Any]:
        """What an iterable gives, all at once."""
        if isinstance(value, NumberRange):
            raise UnsupportedError("a range that depends on tensor values can only be the range of a for statement")
        if isinstance(value, Number):
            raise UnsupportedError("a number is not iterable")
        check_known(value)
        return list(cast("Iterable[Any]", value))

    def met(self, error: Exception, located: SourceError) -> SourceError:
        """Note the exception that an error stands for, and where the program was when it came."""
        self.exceptions[id(located)] = (located, error, self.tracer.builder.block)
        return located

    # -- changes -----------------------------------------------------------------------------------------------------

    def made(self, value: Any) -> Any:
        """Note an object that the function makes."""
        self.own.append(value)
        return value

    def is_own(self, value: Any) -> bool:
        """True for an object that was made, or copied, for this reading."""
        return any(value is each for each in self.own) or any(
            value is each for each in structures.containers(self.frames)
        )

    def check_own(self, container: Any) -> None:
        """Refuse the change of a list, dict, set or object from outside the function."""
        is_followed = structures.is_container(container)
        if not is_followed and any(container is each for each in self.own):
            if self.tracer.builder.block is self.tracer.entry:
                return
            kind = type(container).__name__
            raise UnsupportedError(
                f"a {kind} is changed where tensors decide; use a dict or a list, which can be followed"
            )
        if not self.is_own(container):
            raise UnsupportedError(
                f"a {type(container).__name__} from outside the function is changed; compiled code would not do it "
                "again: return the new value instead"
            )

    def assigns_tensor(self, holder: Any, name: str, value: Any) -> bool:
        """Assign a tensor of a module, if it is that."""
        key = (id(holder), name)
        if key in self.attributes:
            self.attributes[key] = value
            return True
        now = getattr(holder, name, None)
        if not isinstance(holder, nn.Module) or not isinstance(now, Tensor) or not isinstance(value, Tensor):
            return False
        if self.tracer.fake_of(now) is not value:
            raise AttributeAssignedError(holder, name, now)
        return True

    def check_changes(self, function: Any) -> None:
        """Refuse `append` and the like on containers from outside."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, list | dict):
            check_known(cast(Any, owner))
        if isinstance(owner, list | dict | set) and function.__name__ in _CHANGING:
            self.check_own(cast(Any, owner))

    def seen(self, value: Any, name: str) -> Any:
        """Note the names of weights that a value brings along."""
        if isinstance(value, nn.Module):
            self.outside.saw(value)
            for inner, tensor in [*value.named_parameters(), *value.named_buffers()]:
                self.tracer.names.setdefault(id(tensor), inner)
        elif isinstance(value, Tensor):
            return self.tracer.found(value, name)
        return value


def check_known(value: Any) -> None:
    """Refuse the use of what differs between ways that meet."""
    for leaf in structures.leaves(value):
        if isinstance(leaf, Clash):
            raise UnsupportedError(leaf.reason)


def _unwrapped(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function beneath methods, partial applications, modules and decorators of ours and torch's."""
    while True:
        if isinstance(function, functools.partial):
            function, args, kwargs = function.func, (*function.args, *args), {**function.keywords, **kwargs}
        elif isinstance(function, MethodType) and not isinstance(function.__self__, Tensor):
            if not is_read(function.__func__) and not hasattr(function.__func__, "__wrapped__"):
                return function, args, kwargs
            function, args = function.__func__, (function.__self__, *args)
        elif isinstance(function, nn.Module) and is_read(type(function).forward):
            function, args = type(function).forward, (function, *args)
        elif not isinstance(function, nn.Module | type) and _has_user_call(function):
            function, args = type(function).__call__, (function, *args)
        elif not is_read(function) and isinstance(inner := getattr(function, "__wrapped__", None), FunctionType):
            function = inner
        else:
            return function, args, kwargs


def _has_user_call(function: Any) -> bool:
    return not isinstance(function, FunctionType | ReadFunction) and is_read(
        next((vars(kind)["__call__"] for kind in type(function).__mro__ if "__call__" in vars(kind)), None)
    )


def _plain(values: Any) -> Any:
    """Numbers as the 0-d tensors that native code can work with."""

    def leaf(value: Any) -> Any:
        return value.tensor if isinstance(value, Number) else value

    args, kwargs = values
    if not any(isinstance(leaf_, Number) for leaf_ in structures.leaves(values)):
        return values
    return tuple(leaf(arg) for arg in args), {name: leaf(arg) for name, arg in kwargs.items()}


def _range(args: tuple[Any, ...]) -> NumberRange:
    values = [number_of_tensor(arg, int) if isinstance(arg, Tensor) else arg for arg in args]
    start, stop, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
    if not isinstance(step, int) or step == 0:
        raise UnsupportedError("the step of a range must be a known whole number other than 0")
    return NumberRange(start, stop, step)


def _mathematical(function: Any, args: tuple[Any, ...]) -> Number:
    found = getattr(torch, function.__name__, None)
    if found is None or len(args) != 1:
        raise UnsupportedError(
            f"math.{function.__name__} of a number known at run time; use torch's function on tensors"
        )
    result = found(args[0].tensor.to(torch.float64))
    return number_of_tensor(result, int) if function in (math.floor, math.ceil, math.trunc) else Number(result)


def _called_from(error: SourceError, place: SourceLocation, function: Any) -> SourceError:
    name = getattr(function, "__qualname__", None) or "a nested function"
    if len(error.notes) < 4:
        error.notes.append(Diagnostic("note", f"in the call of {name}", place))
    return error
