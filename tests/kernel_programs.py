"""Random programs of kernels, constants, branches and loops on values, for tests of what memory they get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

SHAPES = ("3x5", "15", "5x3")
"""The shapes in use, all of 15 elements, so that a reshape leads from any to any."""


@dataclass
class Program:
    """The text of a program, written by drawing; values are kept by shape, those in scope only."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str])
    count: int = 0
    trips: int = 3

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, scope: dict[str, list[str]], shape: str) -> str:
        return self.draw(st.sampled_from(scope[shape]))

    def kernel(self, scope: dict[str, list[str]]) -> None:
        kind = self.draw(st.sampled_from(("unary", "binary", "two-results", "reverse", "reduce", "reshape")))
        shape = self.draw(st.sampled_from(SHAPES))
        t, x, y = f"tensor<{shape}xf32>", self.pick(scope, shape), self.pick(scope, shape)
        one, two = self.name(), self.name()
        if kind == "unary":
            self.emit(one, [x], ["streaming"], [t], [t], ["%r = cuvil_tensor.unary tanh %a0 : " + t], ["%r"])
        elif kind == "binary":
            body = ["%r = cuvil_tensor.binary sub %a0, %a1 : " + t]
            self.emit(one, [x, y], ["streaming", "streaming"], [t, t], [t], body, ["%r"])
        elif kind == "two-results":
            body = [f"%r = cuvil_tensor.binary add %a0, %a1 : {t}", f"%s = cuvil_tensor.unary neg %a1 : {t}"]
            self.emit(f"{one}, {two}", [x, y], ["streaming", "streaming"], [t, t], [t, t], body, ["%r", "%s"])
            scope[shape].append(two)
        elif kind == "reverse":
            body = [
                f"%q = cuvil_tensor.reverse %a0 axes = [0] : {t} -> {t}",
                f"%r = cuvil_tensor.binary add %q, %a1 : {t}",
            ]
            self.emit(one, [x, y], ["movement", "streaming"], [t, t], [t], body, ["%r"])
        elif kind == "reduce":
            axes = list(range(shape.count("x") + 1))
            body = [
                f"%m = cuvil_tensor.reduce max %a0 axes = {axes} : {t} -> tensor<f32>",
                f"%b = cuvil_tensor.broadcast %m axes = [] : tensor<f32> -> {t}",
                f"%r = cuvil_tensor.binary sub %a0, %b : {t}",
            ]
            self.emit(one, [x], ["streaming"], [t], [t], body, ["%r"])
        else:
            other = self.draw(st.sampled_from([each for each in SHAPES if each != shape]))
            u = f"tensor<{other}xf32>"
            self.emit(one, [x], ["movement"], [t], [u], [f"%r = cuvil_tensor.reshape %a0 : {t} -> {u}"], ["%r"])
            shape = other
        scope[shape].append(one)

    def emit(
        self,
        results: str,
        inputs: Sequence[str],
        access: Sequence[str],
        types: Sequence[str],
        result_types: Sequence[str],
        body: Sequence[str],
        yields: Sequence[str],
    ) -> None:
        bound = ", ".join(f"%a{number} = {value}" for number, value in enumerate(inputs))
        self.lines += [
            f"{results} = cuvil_fused.kernel @k({bound}) family = loop access = <{', '.join(access)}> "
            f": ({', '.join(types)}) -> ({', '.join(result_types)}) {{",
            *body,
            f"cuvil_fused.yield {', '.join(yields)} : {', '.join(result_types)}",
            "}",
        ]

    def leave(self, scope: dict[str, list[str]], shapes: Sequence[str]) -> tuple[str, str]:
        return ", ".join(self.pick(scope, each) for each in shapes), ", ".join(f"tensor<{each}xf32>" for each in shapes)

    def shapes(self) -> list[str]:
        return self.draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))

    def constant(self, scope: dict[str, list[str]]) -> None:
        shape, name = self.draw(st.sampled_from(SHAPES)), self.name()
        self.lines.append(f"{name} = cuvil_tensor.constant dense<0.5> : tensor<{shape}xf32>")
        scope[shape].append(name)

    def branch(self, scope: dict[str, list[str]], depth: int) -> None:
        shapes = self.shapes()
        names = [self.name() for _ in shapes]
        condition = self.draw(st.sampled_from(("%true", "%false")))
        self.lines.append(
            f"{', '.join(names)} = scf.if {condition} -> ({', '.join(f'tensor<{s}xf32>' for s in shapes)}) {{"
        )
        for closing in ("} else {", "}"):
            inner = {shape: list(values) for shape, values in scope.items()}
            self.block(inner, depth - 1)
            values, types = self.leave(inner, shapes)
            self.lines += [f"scf.yield {values} : {types}", closing]
        for shape, name in zip(shapes, names, strict=True):
            scope[shape].append(name)

    def loop(self, scope: dict[str, list[str]], depth: int) -> None:
        shapes = self.shapes()
        names, args = [self.name() for _ in shapes], [self.name() for _ in shapes]
        bound = ", ".join(f"{arg} = {self.pick(scope, shape)}" for arg, shape in zip(args, shapes, strict=True))
        types = ", ".join(f"tensor<{each}xf32>" for each in shapes)
        upper = self.draw(st.sampled_from(("%c0", "%c1", "%c3")))
        counter = self.name()
        self.lines.append(
            f"{', '.join(names)} = scf.for {counter} = %c0 to {upper} step %c1 iter_args({bound}) -> ({types}) {{"
        )
        self.inner(scope, args, shapes, depth, "scf.yield")
        self.lines.append("}")
        for shape, name in zip(shapes, names, strict=True):
            scope[shape].append(name)

    def inner(self, scope: Any, args: Sequence[str], shapes: Sequence[str], depth: int, end: str) -> None:
        inner = {shape: list(values) for shape, values in scope.items()}
        for arg, shape in zip(args, shapes, strict=True):
            inner[shape] += [arg] * 3  # drawn more often
        self.block(inner, depth - 1)
        values, types = self.leave(inner, shapes)
        self.lines.append(f"{end} {values} : {types}")

    def while_loop(self, scope: dict[str, list[str]], depth: int) -> None:
        """Counts to three in a scalar; what `before` forwards may differ in number and kind from what it takes."""
        shapes, results = self.shapes(), self.shapes()
        if self.draw(st.booleans()):
            results = shapes
        args, names, afters = ([self.name() for _ in each] for each in (shapes, results, results))
        i, n, count, j = self.name(), self.name(), self.name(), self.name()
        types, result_types = (", ".join(f"tensor<{each}xf32>" for each in some) for some in (shapes, results))
        bound = ", ".join(f"{arg} = {self.pick(scope, shape)}" for arg, shape in zip(args, shapes, strict=True))
        self.lines += [
            f"{count}, {', '.join(names)} = scf.while ({i} = %c0, {bound})",
            f": (index, {types}) -> (index, {result_types}) {{",
        ]
        inner = {shape: list(values) for shape, values in scope.items()}
        for arg, shape in zip(args, shapes, strict=True):
            inner[shape] += [arg] * 3
        if self.draw(st.booleans()):
            self.block(inner, 0)
        values = ", ".join(args) if results is shapes and self.draw(st.booleans()) else self.leave(inner, results)[0]
        more = self.name()
        self.lines += [
            f"{more} = arith.cmpi ult, {i}, %c3 : index",
            f"scf.condition({more}) {i}, {values} : index, {result_types}",
            "} do {",
            f"^bb0({n}: index, {', '.join(f'{a}: tensor<{s}xf32>' for a, s in zip(afters, results, strict=True))}):",
            f"{j} = arith.addi {n}, %c1 : index",
        ]
        inner = {shape: list(values) for shape, values in scope.items()}
        for arg, shape in zip(afters, results, strict=True):
            inner[shape] += [arg] * 3
        self.block(inner, depth - 1)
        values, _ = self.leave(inner, shapes)
        self.lines += [f"scf.yield {j}, {values} : index, {types}", "}"]
        for shape, name in zip(results, names, strict=True):
            scope[shape].append(name)

    def block(self, scope: dict[str, list[str]], depth: int) -> None:
        kinds = ("kernel", "kernel", "kernel", "constant") + (("if", "for", "while") if depth > 0 else ())
        for kind in self.draw(st.lists(st.sampled_from(kinds), max_size=6)):
            match kind:
                case "kernel":
                    self.kernel(scope)
                case "constant":
                    self.constant(scope)
                case "if":
                    self.branch(scope, depth)
                case "for":
                    self.loop(scope, depth)
                case _:
                    self.while_loop(scope, depth)


@st.composite
def programs(draw: st.DrawFn) -> str:
    program = Program(draw)
    scope = {shape: [f"%x{number}"] for number, shape in enumerate(SHAPES)}
    program.lines += [
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c3 = arith.constant 3 : index",
        "%true = arith.constant true",
        "%false = arith.constant false",
        f"%w = cuvil_tensor.parameter @w : tensor<{SHAPES[0]}xf32>",
    ]
    scope[SHAPES[0]].append("%w")
    program.block(scope, 2)
    results, types = program.leave(scope, program.shapes())
    args = ", ".join(f"%x{number}: tensor<{shape}xf32>" for number, shape in enumerate(SHAPES))
    text = [f"cuvil_tensor.global @w : tensor<{SHAPES[0]}xf32>", f"func.func @main({args}) -> ({types}) {{"]
    return "\n".join([*text, *program.lines, f"func.return {results} : {types}", "}"])


@st.composite
def shuffles(draw: st.DrawFn) -> str:
    """Loops whose iterations permute what they carry, started from tensors that are read in or after the loop too."""
    program = Program(draw)
    t = f"tensor<{SHAPES[0]}xf32>"
    starts = [program.name() for _ in range(draw(st.integers(1, 3)))]
    for kind, start in zip(("tanh", "neg", "exp"), starts, strict=False):
        program.emit(start, ["%x0"], ["streaming"], [t], [t], [f"%r = cuvil_tensor.unary {kind} %a0 : {t}"], ["%r"])
    inits = draw(st.lists(st.sampled_from(starts), min_size=2, max_size=4))
    args, names = [program.name() for _ in inits], [program.name() for _ in inits]
    bound = ", ".join(f"{arg} = {init}" for arg, init in zip(args, inits, strict=True))
    types = ", ".join([t] * len(inits))
    program.lines.append(f"{', '.join(names)} = scf.for %i = %c0 to %c3 step %c1 iter_args({bound}) -> ({types}) {{")
    made: list[str] = []
    for _ in range(draw(st.integers(0, 2))):
        made.append(program.name())
        x, y = draw(st.sampled_from(args)), draw(st.sampled_from([*args, *starts]))
        body = [f"%r = cuvil_tensor.binary sub %a0, %a1 : {t}"]
        program.emit(made[-1], [x, y], ["streaming", "streaming"], [t, t], [t], body, ["%r"])
    yielded = draw(st.lists(st.sampled_from([*args, *args, *made]), min_size=len(args), max_size=len(args)))
    program.lines += [f"scf.yield {', '.join(yielded)} : {types}", "}"]
    returned = [*names, *draw(st.lists(st.sampled_from(starts), max_size=1))]
    inputs = ", ".join(f"%x{number}: tensor<{shape}xf32>" for number, shape in enumerate(SHAPES))
    text = [f"cuvil_tensor.global @w : {t}", f"func.func @main({inputs}) -> ({', '.join([t] * len(returned))}) {{"]
    text += [f"%c{number} = arith.constant {number} : index" for number in (0, 1, 3)]
    return "\n".join(
        [*text, *program.lines, f"func.return {', '.join(returned)} : {', '.join([t] * len(returned))}", "}"]
    )
