"""Options of passes: from the text in a pipeline to a pass's typed dataclass fields, and back.

A field `max_ops: int = 32` is the option `max-ops`. Types: int, float, bool, str, enums, `Literal`, tuples of these
(`x=1,2`), and any of them optional. A bare `flag` is True for a bool, None for an optional, empty for a tuple.
"""

from __future__ import annotations

import dataclasses
import enum
import types
from collections.abc import Sequence
from dataclasses import Field
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass

from cuvil.errors import DiagnosticException
from cuvil.pipeline_syntax import OptionNode, PassNode, error, quote

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class OptionTypeError(ValueError):
    """A text is not a value of the option's type."""


def build_pass(text: str, node: PassNode, pass_class: type[ModulePass]) -> ModulePass:
    """The pass that `node`, a part of `text`, asks for. Raises `PipelineError` at the option at fault."""
    fields = option_fields(pass_class)
    hints = get_type_hints(pass_class)
    arguments: dict[str, Any] = {}
    for option in node.options:
        name = option.name.replace("-", "_")
        if name not in fields:
            raise error(text, _unknown_option(node.name, option.name, list(fields)), option.name_span)
        if name in arguments:
            raise error(text, f"option '{option.name}' of pass '{node.name}' is given twice", option.name_span)
        arguments[name] = _option_value(text, node, option, hints[name])
    for name, field in fields.items():
        if name not in arguments and not _has_default(field):
            if not _is_optional(hints[name]):
                raise error(text, f"pass '{node.name}' requires option '{_dashed(name)}'", node.span)
            arguments[name] = None
    try:
        return pass_class(**arguments)
    except (ValueError, DiagnosticException) as problem:
        raise error(text, f"pass '{node.name}': {problem}", node.span) from problem


def pass_text(pass_: ModulePass, all_options: bool = False) -> str:
    """The pass as written in a pipeline, with the options that differ from their defaults, or all of them.

    Example: `fuse{max-ops=32 tiles=4,8}`
    """
    options: list[str] = []
    for name, field in option_fields(type(pass_)).items():
        value = getattr(pass_, name)
        if all_options or not _has_default(field) or value != _default(field):
            options.append(_option_text(_dashed(name), value))
    return f"{pass_.name}{{{' '.join(options)}}}" if options else pass_.name


def option_fields(pass_class: type[ModulePass]) -> dict[str, Field[Any]]:
    """The dataclass fields that are options, by field name."""
    return {field.name: field for field in dataclasses.fields(pass_class) if field.init and field.name != "name"}


def describe_options(pass_class: type[ModulePass]) -> list[str]:
    """One line an option: `max-ops: int = 32`."""
    hints = get_type_hints(pass_class)
    lines: list[str] = []
    for name, field in option_fields(pass_class).items():
        default = f" = {_value_text(_default(field))}" if _has_default(field) else ""
        lines.append(f"{_dashed(name)}: {type_name(hints[name])}{default}")
    return lines


def coerce(values: Sequence[str] | None, hint: Any) -> Any:
    """The value of type `hint` that the texts stand for; None for a bare option. Raises `OptionTypeError`."""
    if get_origin(hint) in (Union, types.UnionType):
        return _coerce_union(values, hint)
    if get_origin(hint) is tuple:
        return tuple(
            coerce((value,), _element_type(hint, len(values or ()), i)) for i, value in enumerate(values or ())
        )
    if values is None and hint is bool:
        return True
    if values is None or len(values) != 1:
        raise OptionTypeError
    return _coerce_scalar(values[0], hint)


def type_name(hint: Any) -> str:
    """A type as an option's user reads it: `int`, `int | none`, `list of int`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " | ".join(type_name(argument) for argument in arguments)
    if origin is tuple:
        return f"list of {type_name(arguments[0])}"
    if origin is Literal:
        return " | ".join(str(argument) for argument in arguments)
    if hint is types.NoneType:
        return "none"
    return " | ".join(str(member.value) for member in hint) if _is_enum(hint) else getattr(hint, "__name__", str(hint))


def _option_value(text: str, node: PassNode, option: OptionNode, hint: Any) -> Any:
    try:
        return coerce(option.values, hint)
    except OptionTypeError as problem:
        got = "no value" if option.values is None else f"'{','.join(option.values)}'"
        message = f"option '{option.name}' of pass '{node.name}' expects {type_name(hint)}, got {got}"
        raise error(text, message, option.value_span) from problem


def _coerce_union(values: Sequence[str] | None, hint: Any) -> Any:
    members = get_args(hint)
    if types.NoneType in members and (values is None or tuple(values) == ("none",)):
        return None
    for member in members:
        if member is types.NoneType:
            continue
        try:
            return coerce(values, member)
        except OptionTypeError:
            continue
    raise OptionTypeError


def _coerce_scalar(value: str, hint: Any) -> Any:
    if hint is bool:
        if value.lower() not in _BOOLEANS:
            raise OptionTypeError
        return _BOOLEANS[value.lower()]
    if get_origin(hint) is Literal:
        found = [choice for choice in get_args(hint) if str(choice) == value]
        if not found:
            raise OptionTypeError
        return found[0]
    try:
        return int(value, 0) if hint is int else hint(value)
    except ValueError as error:
        raise OptionTypeError from error


def _element_type(hint: Any, length: int, index: int) -> Any:
    """The type of element `index` of a tuple type: `tuple[int, ...]` or `tuple[int, str]`."""
    arguments = get_args(hint)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return arguments[0]
    if len(arguments) != length:
        raise OptionTypeError
    return arguments[index]


def _option_text(name: str, value: Any) -> str:
    if value is None or value == ():
        return name
    return f"{name}={_value_text(value)}"


def _value_text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ",".join(_value_text(element) for element in cast(Sequence[Any], value))
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, enum.Enum):
        return quote(str(value.value))
    return quote(value) if isinstance(value, str) else repr(value)


def _unknown_option(pass_name: str, option: str, known: list[str]) -> str:
    names = [_dashed(name) for name in known]
    if not names:
        return f"pass '{pass_name}' has no options, got '{option}'"
    from difflib import get_close_matches

    near = get_close_matches(option.replace("_", "-"), names, 1)
    remedy = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(names)}"
    return f"pass '{pass_name}' has no option '{option}'; {remedy}"


def _has_default(field: Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def _is_optional(hint: Any) -> bool:
    return types.NoneType in get_args(hint)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
