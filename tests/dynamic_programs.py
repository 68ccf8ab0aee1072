"""Programs of symbolic shapes that exercise each family of loops, as text, with the sizes to run them at.

A program's text leaves out the module and the attribute of symbols; `module_of` puts them around it. `SIZES` are what
is special to loops: none, one, a vector's width and one more or less, several vectors, enough work for threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from cuvil.ir_text import parse_module
from cuvil.universe import make_context

SIZES = (0, 1, 2, 15, 16, 17, 63, 64, 65, 130)
"""Sizes that every symbol takes in turn, where the program does not say others."""


@dataclass(frozen=True)
class DynamicProgram:
    """A function @main as text, which returns what its last operation gives; `sizes` are those to run it at."""

    name: str
    arguments: str
    results: str
    body: str
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    ranges: str = ""
    """The attribute of symbols, `s0 = #cuvil_tensor.range<0, 512>`; without it nothing is known."""

    @property
    def text(self) -> str:
        """The function as text."""
        attribute = f" attributes {{cuvil_tensor.symbols = {{{self.ranges}}}}}" if self.ranges else ""
        returned = self.body.splitlines()[-1].partition(" = ")[0]
        last = f"func.return {returned} : {self.results}"
        return f"func.func @main({self.arguments}) -> ({self.results}){attribute} {{\n{self.body}\n{last}\n}}\n"

    def module(self) -> ModuleOp:
        """The program, parsed and verified."""
        module = parse_module(make_context(), self.text)
        module.verify()
        return module


def t(*dims: int | str, element: str = "f32") -> str:
    """The text of a tensor type: `t("s0", 8)` is `tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>`."""
    sizes = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in dims)
    if all(isinstance(dim, int) for dim in dims):
        return f"tensor<{sizes}{element}>"
    names = ", ".join(str(dim) if isinstance(dim, int) else f'"{dim}"' for dim in dims)
    return f"tensor<{sizes}{element}, #cuvil_tensor.dims<{names}>>"


def _elementwise() -> list[DynamicProgram]:
    x, m = t("s0"), t("s0", "s1")
    h, bias = t("s0", "s1", 24), t(24)
    return [
        DynamicProgram(
            "flat",
            f"%x: {x}, %y: {x}",
            x,
            f"%0 = cuvil_tensor.binary mul %x, %y : {x}",
            {"s0": (*SIZES, 40000)},
        ),
        DynamicProgram(
            "bias",
            f"%x: {h}, %b: {bias}",
            h,
            f"%0 = cuvil_tensor.broadcast %b axes = [2] : {bias} -> {h}\n"
            f"%1 = cuvil_tensor.binary add %x, %0 : {h}\n%2 = cuvil_tensor.unary tanh %1 : {h}",
            {"s0": (0, 1, 3), "s1": (0, 1, 17, 300)},
        ),
        DynamicProgram(
            "outer sum",
            f"%x: {x}, %y: {t('s1')}",
            m,
            f"%0 = cuvil_tensor.broadcast %x axes = [0] : {x} -> {m}\n"
            f"%1 = cuvil_tensor.broadcast %y axes = [1] : {t('s1')} -> {m}\n"
            f"%2 = cuvil_tensor.binary add %0, %1 : {m}",
        ),
        DynamicProgram(
            "size",
            f"%x: {m}",
            m,
            f'%n = cuvil_tensor.size "s0*s1" : tensor<f32>\n%0 = cuvil_tensor.broadcast %n axes = [] '
            f": tensor<f32> -> {m}\n"
            f"%1 = cuvil_tensor.binary div %x, %0 : {m}",
        ),
        DynamicProgram(
            "iota",
            f"%x: {t('s0', 's1', element='i64')}",
            t("s0", "s1", element="i64"),
            f"%0 = cuvil_tensor.iota axis = 1 : {t('s0', 's1', element='i64')}\n"
            f"%1 = cuvil_tensor.binary add %x, %0 : {t('s0', 's1', element='i64')}",
        ),
        DynamicProgram(
            "halves",
            f"%x: {t('s0', element='f16')}, %y: {t('s0', element='i1')}",
            t("s0", element="f16"),
            f"%0 = cuvil_tensor.unary exp %x : {t('s0', element='f16')}\n"
            f"%1 = cuvil_tensor.ternary select %y, %0, %x : {t('s0', element='i1')},"
            f" {t('s0', element='f16')}, {t('s0', element='f16')}",
        ),
    ]


def _movement() -> list[DynamicProgram]:
    m = t("s0", "s1")
    return [
        DynamicProgram(
            "transpose",
            f"%x: {m}",
            t("s1", "s0"),
            f"%0 = cuvil_tensor.transpose %x input_order = [1, 0] : {m} -> {t('s1', 's0')}",
        ),
        DynamicProgram(
            "heads",
            f"%x: {t('s0', 's1', 24)}",
            t("s0", 3, "s1", 8),
            f"%0 = cuvil_tensor.reshape %x : {t('s0', 's1', 24)} -> {t('s0', 's1', 3, 8)}\n"
            f"%1 = cuvil_tensor.transpose %0 input_order = [0, 2, 1, 3] : {t('s0', 's1', 3, 8)} "
            f"-> {t('s0', 3, 's1', 8)}",
            {"s0": (0, 1, 3), "s1": (0, 1, 17, 64)},
        ),
        DynamicProgram(
            "keys",
            f"%x: {t('s0', 's1', 3, 8)}",
            t("s0", 3, 8, "s1"),
            f"%1 = cuvil_tensor.transpose %x input_order = [0, 2, 3, 1] : {t('s0', 's1', 3, 8)} "
            f"-> {t('s0', 3, 8, 's1')}",
            {"s0": (0, 1, 3), "s1": (0, 1, 15, 16, 17, 64)},
        ),
        DynamicProgram(
            "joined dims",
            f"%x: {t('s0', 's1', 4)}, %y: {t('s0*s1', 4)}",
            t("4*s0*s1"),
            f"%0 = cuvil_tensor.reshape %x : {t('s0', 's1', 4)} -> {t('4*s0*s1')}\n"
            f"%1 = cuvil_tensor.reshape %y : {t('s0*s1', 4)} -> {t('4*s0*s1')}\n"
            f"%2 = cuvil_tensor.binary sub %0, %1 : {t('4*s0*s1')}",
        ),
        DynamicProgram(
            "split dims",
            f"%x: {t('s0*s1')}, %y: {m}",
            m,
            f"%0 = cuvil_tensor.reshape %x : {t('s0*s1')} -> {m}\n%1 = cuvil_tensor.binary sub %0, %y : {m}",
        ),
        DynamicProgram(
            "regrouped",
            f"%x: {t('s0', 6)}",
            t(6, "s0"),
            f"%0 = cuvil_tensor.reshape %x : {t('s0', 6)} -> {t(6, 's0')}",
        ),
    ]


def _parts() -> list[DynamicProgram]:
    x, m = t("s0"), t("s0", "s1")
    return [
        DynamicProgram("reverse", f"%x: {m}", m, f"%0 = cuvil_tensor.reverse %x axes = [0, 1] : {m} -> {m}"),
        DynamicProgram(
            "slice",
            f"%x: {t('s0 + 3', 's1 + 2')}",
            m,
            f"%0 = cuvil_tensor.slice %x starts = [1, 2] steps = [1, 1] : {t('s0 + 3', 's1 + 2')} -> {m}",
        ),
        DynamicProgram(
            "strided slice",
            f"%x: {t('2*s0 + 1', 5)}",
            t("s0", 5),
            f"%0 = cuvil_tensor.slice %x starts = [1, 0] steps = [2, 1] : {t('2*s0 + 1', 5)} -> {t('s0', 5)}",
        ),
        DynamicProgram(
            "concat along lanes",
            f"%x: {x}, %y: {t('s1')}, %z: {t(3)}",
            t("s0 + s1 + 3"),
            f"%0 = cuvil_tensor.concat %x, %y, %z axis = 0 : {x}, {t('s1')}, {t(3)} -> {t('s0 + s1 + 3')}\n"
            f"%1 = cuvil_tensor.unary neg %0 : {t('s0 + s1 + 3')}",
        ),
        DynamicProgram(
            "cache",
            f"%x: {t(2, 's0', 8)}, %y: {t(2, 's1', 8)}",
            t(2, "s0 + s1", 8),
            f"%0 = cuvil_tensor.concat %x, %y axis = 1 : {t(2, 's0', 8)}, {t(2, 's1', 8)} -> {t(2, 's0 + s1', 8)}",
        ),
        DynamicProgram(
            "concat of transposed",
            f"%x: {t('s0', 4)}, %y: {t('s1', 4)}",
            t(4, "s0 + s1"),
            f"%0 = cuvil_tensor.concat %x, %y axis = 0 : {t('s0', 4)}, {t('s1', 4)} -> {t('s0 + s1', 4)}\n"
            f"%1 = cuvil_tensor.transpose %0 input_order = [1, 0] : {t('s0 + s1', 4)} -> {t(4, 's0 + s1')}",
        ),
        DynamicProgram(
            "slice of concat",
            f"%x: {x}, %y: {x}",
            t("s0"),
            f"%0 = cuvil_tensor.concat %x, %y axis = 0 : {x}, {x} -> {t('2*s0')}\n"
            f"%1 = cuvil_tensor.slice %0 starts = [0] steps = [2] : {t('2*s0')} -> {x}\n"
            f"%2 = cuvil_tensor.unary neg %1 : {x}",
        ),
        DynamicProgram(
            "pad",
            f"%x: {m}, %v: tensor<f32>",
            t("s0 + 3", "s1 + 5"),
            f"%0 = cuvil_tensor.pad %x, %v low = [1, 2] high = [2, 3] : {m}, tensor<f32> -> {t('s0 + 3', 's1 + 5')}",
        ),
        DynamicProgram(
            "crop",
            f"%x: {t('s0 + 3')}, %v: tensor<f32>",
            t("s0 + 3"),
            f"%0 = cuvil_tensor.pad %x, %v low = [-2] high = [2] : {t('s0 + 3')}, tensor<f32> -> {t('s0 + 3')}",
        ),
        DynamicProgram(
            "gather rows",
            f"%w: {t(50, 24)}, %i: {t('s0', 's1', element='i64')}",
            t("s0", "s1", 24),
            f"%0 = cuvil_tensor.gather %w, %i axes = [0] : {t(50, 24)}, {t('s0', 's1', element='i64')} "
            f"-> {t('s0', 's1', 24)}",
            {"s0": (0, 1, 3), "s1": (0, 1, 17)},
        ),
        DynamicProgram(
            "gather elements",
            f"%x: {t('s0 + 1')}, %i: {t('s1', element='i64')}",
            t("s1"),
            f"%0 = cuvil_tensor.gather %x, %i axes = [0] : {t('s0 + 1')}, {t('s1', element='i64')} -> {t('s1')}\n"
            f"%1 = cuvil_tensor.unary neg %0 : {t('s1')}",
        ),
        DynamicProgram(
            "scatter",
            f"%x: {t('s0 + 1', 's1')}, %u: {t(5, 's1')}, %i: {t(5, element='i64')}",
            t("s0 + 1", "s1"),
            f"%0 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : {t('s0 + 1', 's1')}, {t(5, 's1')}, "
            f"{t(5, element='i64')} -> {t('s0 + 1', 's1')}",
        ),
    ]


def _reductions() -> list[DynamicProgram]:
    m, row = t("s0", "s1"), t("s0")
    h = t("s0", "s1", 24)

    def softmax(of: str, axis: int) -> str:
        return f"%0 = cuvil_tensor.softmax %x axis = {axis} : {of} -> {of}"

    positive = {"s0": (0, 1, 3, 17), "s1": (1, 2, 15, 16, 17, 63, 64, 65, 130, 3000)}
    return [
        DynamicProgram("softmax rows", f"%x: {m}", m, softmax(m, 1), positive),
        DynamicProgram(
            "softmax bounded",
            f"%x: {m}",
            m,
            softmax(m, 1),
            {**positive, "s1": positive["s1"][:-1]},
            "s0 = #cuvil_tensor.range<0, ?>, s1 = #cuvil_tensor.range<1, 512>",
        ),
        DynamicProgram("softmax long", f"%x: {m}", m, softmax(m, 1), {"s0": (1, 2), "s1": (40000,)}),
        DynamicProgram("softmax hidden", f"%x: {h}", h, softmax(h, 2), {"s0": (0, 1, 3), "s1": (0, 1, 17, 300)}),
        DynamicProgram("softmax columns", f"%x: {h}", h, softmax(h, 1), {"s0": (0, 1, 3), "s1": (1, 17)}),
        DynamicProgram(
            "multiples",
            f"%x: {m}",
            m,
            softmax(m, 1),
            {"s0": (0, 1, 3), "s1": (16, 32, 160)},
            "s0 = #cuvil_tensor.range<0, ?>, s1 = #cuvil_tensor.range<16, ?, multiple_of = 16>",
        ),
        DynamicProgram(
            "layer norm",
            f"%x: {h}, %w: {t(24)}, %b: {t(24)}",
            h,
            f"%0 = cuvil_tensor.layer_norm %x weight = %w bias = %b axes = [2] eps = 1.000000e-05 : {h},"
            f" {t(24)}, {t(24)} -> {h}",
            {"s0": (0, 1, 3), "s1": (0, 1, 17, 300)},
        ),
        *(
            DynamicProgram(
                f"reduce {kind} {axes} {element}",
                f"%x: {t('s0', 's1', 's2', element=element)}",
                t(*(f"s{n}" for n in range(3) if n not in axes), element=element),
                f"%0 = cuvil_tensor.reduce {kind} %x axes = {list(axes)} : {t('s0', 's1', 's2', element=element)} -> "
                f"{t(*(f's{n}' for n in range(3) if n not in axes), element=element)}",
                {"s0": (0, 1, 3), "s1": (0, 1, 5), "s2": (0, 1, 15, 16, 17, 70)},
            )
            for kind, axes, element in (
                ("add", (2,), "f32"),
                ("add", (0, 1), "f32"),
                ("max", (1,), "f32"),
                ("add", (0, 1, 2), "f32"),
                ("min", (0, 2), "i32"),
                ("or", (1, 2), "i1"),
                ("mul", (0,), "bf16"),
            )
        ),
        DynamicProgram(
            "mean",
            f"%x: {m}",
            row,
            f"%0 = cuvil_tensor.reduce add %x axes = [1] : {m} -> {row}\n"
            f'%n = cuvil_tensor.size "s1" : tensor<f32>\n%1 = cuvil_tensor.broadcast %n axes = [] '
            f": tensor<f32> -> {row}\n"
            f"%2 = cuvil_tensor.binary div %0, %1 : {row}",
            positive,
        ),
    ]


def _ordering() -> list[DynamicProgram]:
    m, places = t("s0", "s1"), t("s0", "s1", element="i64")
    sizes = {"s0": (0, 1, 3), "s1": (1, 2, 15, 16, 17, 64, 65, 130, 300)}
    programs = [
        DynamicProgram(
            f"scan {axis}",
            f"%x: {m}",
            m,
            f"%0 = cuvil_tensor.scan add %x axis = {axis} : {m} -> {m}",
        )
        for axis in (0, 1)
    ]
    for axis in (0, 1):
        out = t("s1" if axis == 0 else "s0", element="i64")
        programs.append(
            DynamicProgram(
                f"arg_reduce {axis}",
                f"%x: {m}",
                out,
                f"%0 = cuvil_tensor.arg_reduce max %x axis = {axis} : {m} -> {out}",
                {"s0": (1, 3, 17), "s1": sizes["s1"]},
            )
        )
        programs.append(
            DynamicProgram(
                f"sort {axis}",
                f"%x: {m}",
                f"{m}, {places}",
                f"%0, %1 = cuvil_tensor.sort %x axis = {axis} : {m} -> ({m}, {places})",
                {"s0": (0, 1, 3), "s1": (0, *sizes["s1"])},
            )
        )
    k, ki = t("s0", 4), t("s0", 4, element="i64")
    wide = t("s0", "s1 + 4")
    programs.append(
        DynamicProgram(
            "topk",
            f"%x: {wide}",
            f"{k}, {ki}",
            f"%0, %1 = cuvil_tensor.topk %x k = 4 axis = 1 descending : {wide} -> ({k}, {ki})",
            {"s0": (0, 1, 3), "s1": (0, *sizes["s1"])},
        )
    )
    return programs


PROGRAMS = (*_elementwise(), *_movement(), *_parts(), *_reductions(), *_ordering())
"""One program for each thing that loops do with shapes."""
