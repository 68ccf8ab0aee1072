"""Random programs: Python functions of tensors with branches, loops, views and changes in place, drawn by hypothesis.

Each line is evaluated as it is drawn, so that what follows knows dtypes and shapes, and lines that eager PyTorch
refuses are dropped. A program is source text with specs of its inputs: what `@cuvil.compile` reads.
"""

from __future__ import annotations

import linecache
import warnings
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor

from tests.programs.expressions import Draw, expression, filled
from tests.programs.inputs import LONGEST_TEXT, InputSpec, input_specs

LARGEST_VALUE = 1500
NAMES = {"torch": torch, "F": F, "Tensor": Tensor}
DEEPEST = 2

CONDITIONS = (
    "{n}.sum() > {number}",
    "({n} > {number}).any()",
    "{b}.all()",
    "{b}.any()",
    "{n1}.amax() >= {number}",
    "not ({n} < {number}).all()",
    "{n}.sum() > {number} and {n}.min() < 3",
    "{n}.isnan().any() or {n}.sum() < 0",
    "0 < {n}.sum() <= 9",
    "{n}.sum() == {n}.sum()",
    "int({i}.sum()) % 2 == 0",
)
UPDATES = (
    "{x} * 0.5",
    "{x} + 1",
    "-{x}",
    "{x}.relu()",
    "{x}.abs()",
    "{x}.flip(-1)",
    "{x}.roll(1, 0)",
    "{x} + {like}",
    "{x} * {like}",
    "torch.where({x} > {number}, {x}, {like})",
    "torch.maximum({x}, {like})",
    "~{x}",
    "{x} ^ True",
    "{x} * 2 - 1",
    "torch.sin({x})",
    "{x} - {x}.mean()",
    "{f}.softmax(-1)",
    "{x}.cumsum(0)",
)
IN_PLACE = (
    "{x} += {like}",
    "{x} *= {number}",
    "{x}.add_({like})",
    "{x}.mul_({number})",
    "{x}.relu_()",
    "{x}.clamp_(-2, 2)",
    "{x}[0] = {number}",
    "{x}[..., 0] = {number}",
    "{x}[1:] += 1",
    "{x}[{index}] = {number}",
    "{x}[{index}] *= 2",
    "{x}[{list}] = {number}",
    "{x}.zero_()",
    "{x}.fill_({number})",
    "{x}.copy_({like}.nan_to_num().clamp(0, 100))",
    "{x}.masked_fill_({x} > {number}, 0)",
    "{x}[{x} > {number}] = 1",
    "{x}.t().add_(1)",
    "{x}.view(-1)[0] = {number}",
    "{x}[0].mul_(3)",
    "{x}.flatten()[1:].neg_()",
    "{x}.neg_()",
    "{x}.select(0, 0).add_({number})",
)
_IF, _WHILE, _FOR = 6, 3, 3


@dataclass(frozen=True)
class Program:
    """A function's source, and what it is called with."""

    source: str
    inputs: tuple[InputSpec, ...]
    seed: int

    def function(self) -> FunctionType:
        """The function, with source that `inspect` finds."""
        name = f"/programs/{abs(hash(self.source)):x}.py"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        space: dict[str, Any] = dict(NAMES)
        exec(compile(self.source, name, "exec"), space)
        return space["program"]

    def forget(self) -> None:
        """Drop the source that `function` put where `inspect` finds it."""
        linecache.cache.pop(f"/programs/{abs(hash(self.source)):x}.py", None)

    def arguments(self, special: bool) -> list[Tensor]:
        """Ordinary arguments, or ones with NaN, infinities and extremes."""
        return [spec.tensor(self.seed + number, special) for number, spec in enumerate(self.inputs)]

    def script(self, special: bool, reason: str) -> str:
        """A script that shows the failure by itself."""
        made = [f"    {spec.text(self.seed + number, special)}," for number, spec in enumerate(self.inputs)]
        needs_specs = any(spec.size > LONGEST_TEXT for spec in self.inputs)
        lines = [
            *(f"# {line}" for line in reason.splitlines()),
            "import torch",
            "import torch.nn.functional as F",
            "import cuvil",
            *(["from tests.programs.inputs import InputSpec"] if needs_specs else []),
            "nan, inf = float('nan'), float('inf')",
            self.source,
            "inputs = [",
            *made,
            "]",
            "with torch.no_grad():",
            "    print('eager      ', program(*inputs))",
            "    print('interpreter', cuvil.compile(program, target='interpreter')(*inputs))",
            "    print('native     ', cuvil.compile(program)(*inputs))",
        ]
        return "\n".join(lines)


@st.composite
def programs(draw: st.DrawFn, longest: int = 8) -> Program:
    """A program of up to `longest` statements outside of blocks."""
    inputs = tuple(draw(input_specs()) for _ in range(draw(st.sampled_from((2, 1, 3)))))
    seed = draw(st.integers(0, 999))
    values = {f"x{number}": spec.tensor(seed + number, False) for number, spec in enumerate(inputs)}
    parameters = ", ".join(values)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = _Block(draw, values, frozenset(_memory(each) for each in values.values()))
        for _ in range(draw(st.integers(1, longest))):
            body.statement()
        body.finish()
    lines = [f"def program({parameters}):", *("    " + line for line in body.lines)]
    return Program("\n".join(lines) + "\n", inputs, seed)


@dataclass
class _Counter:
    value: int = 0

    def name(self, letter: str) -> str:
        self.value += 1
        return f"{letter}{self.value}"


@dataclass
class _Block:
    """Statements of one block, and the variables that they see."""

    draw: Draw
    values: dict[str, Tensor]
    fixed: frozenset[int]
    """Memories that may not be changed: the arguments'."""
    depth: int = 0
    names: _Counter = field(default_factory=_Counter)
    lines: list[str] = field(default_factory=list[str])

    def statement(self) -> None:
        """One more statement; none where what was drawn does not fit."""
        kind = self.draw(st.integers(0, 29 + _IF + _WHILE + _FOR))
        if kind < 24 or self.depth >= DEEPEST:
            self.assignment()
        elif kind < 30:
            self.change_in_place()
        elif kind < 30 + _IF:
            self.branch()
        elif kind < 30 + _IF + _WHILE:
            self.while_loop()
        else:
            self.for_loop()

    def assignment(self) -> None:
        """`v1 = torch.exp(x0)`"""
        text = expression(self.draw, self.values)
        value = self.evaluated(text)
        if text is not None and value is not None:
            name = self.names.name("v")
            self.lines.append(f"{name} = {text}")
            self.values[name] = value

    def evaluated(self, text: str | None) -> Tensor | None:
        """The value of an expression; None of one that eager refuses, or of a large or odd one."""
        if text is None:
            return None
        try:
            value = eval(text, {**NAMES, **self.values})
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            return None
        if not isinstance(value, Tensor) or value.numel() > LARGEST_VALUE or value.is_complex() or value.dim() > 5:
            return None
        return value

    def change_in_place(self) -> None:
        """`v1 = x0.clone(); v1[0] = 2`"""
        own = [name for name, each in self.values.items() if _memory(each) not in self.fixed]
        if not own or self.draw(st.booleans()):
            source = self.draw(st.sampled_from(list(self.values)))
            name = self.names.name("v")
            self.values[name] = self.values[source].clone()
            self.lines.append(f"{name} = {source}.clone()")
        else:
            name = self.draw(st.sampled_from(own))
        text = self.update_text(name, IN_PLACE)
        if text is not None and self.executed(text):
            self.lines.append(text)

    def update_text(self, name: str, templates: tuple[str, ...]) -> str | None:
        template = self.draw(st.sampled_from(templates)).replace("{x}", "{a}")
        return filled(self.draw, template, self.values, name)

    def executed(self, text: str) -> bool:
        """Whether a statement runs."""
        try:
            exec(text, {**NAMES, **self.values})
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            return False
        return True

    # -- blocks ------------------------------------------------------------------------------------------------------

    def condition(self) -> str | None:
        """An expression that is true or false of tensors' values."""
        text = filled(self.draw, self.draw(st.sampled_from(CONDITIONS)), self.values)
        return text if text is not None and self.executed(f"bool({text})") else None

    def inner(self) -> _Block:
        return _Block(self.draw, dict(self.values), self.fixed, self.depth + 1, self.names)

    def update(self) -> str | None:
        """Give a variable another value of its type: `v1 = v1 * 2`. The name of it."""
        candidates = [name for name in self.values if not name.startswith("x")] or list(self.values)
        name = self.draw(st.sampled_from(candidates))
        before = self.values[name]
        text = self.update_text(name, UPDATES)
        value = self.evaluated(text)
        if text is None or value is None or value.shape != before.shape:
            return None
        if value.dtype != before.dtype:
            if value.is_floating_point() and not before.is_floating_point():
                return None
            text, value = f"({text}).to({before.dtype})", value.to(before.dtype)
        self.lines.append(f"{name} = {text}")
        self.values[name] = value
        return name

    def body(self) -> list[str]:
        """The lines of an inner block, whose variables outside keep their types."""
        inner = self.inner()
        for _ in range(self.draw(st.integers(1, 3))):
            if self.draw(st.integers(0, 2)):
                inner.update()
            else:
                inner.statement()
        return ["    " + line for line in inner.lines] or ["    pass"]

    def branch(self) -> None:
        """`if` with or without `else`."""
        condition = self.condition()
        if condition is None:
            return
        then = self.body()
        self.lines += [f"if {condition}:", *then]
        if self.draw(st.booleans()):
            self.lines += ["else:", *self.body()]

    def while_loop(self) -> None:
        """A loop on tensors that ends after some rounds."""
        condition = self.condition()
        if condition is None:
            return
        counter = self.names.name("n")
        rounds = self.draw(st.integers(1, 4))
        body = self.body()
        if self.draw(st.integers(0, 3)) == 3:
            stop = self.condition()
            body += [f"    if {stop}:", "        break"] if stop is not None else []
        self.lines += [f"{counter} = 0", f"while {counter} < {rounds} and ({condition}):", *body, f"    {counter} += 1"]

    def for_loop(self) -> None:
        """A loop over a range that is known, or over one that a tensor tells."""
        name = self.names.name("i")
        stop = str(self.draw(st.integers(0, 3)))
        numbers = [each for each, value in self.values.items() if not value.is_floating_point() and value.numel()]
        if numbers and self.draw(st.booleans()):
            stop = f"int({self.draw(st.sampled_from(numbers))}.reshape(-1)[0] % 4)"
        self.lines += [f"for {name} in range({stop}):", *self.body()]

    # -- the end -----------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Return the last variables, now and then early as well."""
        computed = [name for name in self.values if not name.startswith("x")] or list(self.values)
        results = computed[-self.draw(st.integers(1, 3)) :]
        if self.draw(st.integers(0, 7)) == 7 and (condition := self.condition()) is not None:
            early = ", ".join(f"{name} if {name}.dtype == torch.bool else -{name}" for name in results)
            self.lines += [f"if {condition}:", f"    return {early}{',' if len(results) == 1 else ''}"]
        self.lines.append(f"return {', '.join(results)}{',' if len(results) == 1 else ''}")


def _memory(value: Tensor) -> int:
    return value.untyped_storage()._cdata  # pyright: ignore[reportPrivateUsage]
