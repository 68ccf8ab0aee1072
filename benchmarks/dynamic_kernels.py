"""What symbolic dims cost: the same kernels compiled for numbers and for symbols, in one run.

    python -m benchmarks.dynamic_kernels

Each row is a program's process time with symbolic dims divided by that with known ones, on one thread: the median of
rounds that alternate between the two.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from xdsl.dialects.builtin import ModuleOp

from cuvil.ir_text import parse_module
from cuvil.semantics.dims import parse_dim
from cuvil.semantics.native_execution import NativeProgram
from cuvil.semantics.random_inputs import make_inputs
from cuvil.universe import make_context

SIZES = {"s0": 8, "s1": 128}
"""Batch and sequence; hidden sizes are numbers in both programs."""

PROGRAMS = {
    "add": """func.func @main(%x: [s0, s1, 768], %y: [s0, s1, 768]) -> [s0, s1, 768] {
        %0 = cuvil_tensor.binary add %x, %y : [s0, s1, 768]""",
    "bias, gelu": """func.func @main(%x: [s0, s1, 768], %b: [768]) -> [s0, s1, 768] {
        %0 = cuvil_tensor.broadcast %b axes = [2] : [768] -> [s0, s1, 768]
        %1 = cuvil_tensor.binary add %x, %0 : [s0, s1, 768]
        %2 = cuvil_tensor.gelu %1 approximate = erf : [s0, s1, 768] -> [s0, s1, 768]""",
    "layer norm": """func.func @main(%x: [s0, s1, 768], %w: [768], %b: [768]) -> [s0, s1, 768] {
        %0 = cuvil_tensor.layer_norm %x weight = %w bias = %b axes = [2] eps = 1.000000e-05
          : [s0, s1, 768], [768], [768] -> [s0, s1, 768]""",
    "softmax over the sequence": """func.func @main(%x: [s0, 12, s1, s1]) -> [s0, 12, s1, s1] {
        %0 = cuvil_tensor.softmax %x axis = 3 : [s0, 12, s1, s1] -> [s0, 12, s1, s1]""",
    "sum over the sequence": """func.func @main(%x: [s0, s1, 768]) -> [s0, 768] {
        %0 = cuvil_tensor.reduce add %x axes = [1] : [s0, s1, 768] -> [s0, 768]""",
    "heads apart": """func.func @main(%x: [s0, s1, 768]) -> [s0, 12, s1, 64] {
        %0 = cuvil_tensor.reshape %x : [s0, s1, 768] -> [s0, s1, 12, 64]
        %1 = cuvil_tensor.transpose %0 input_order = [0, 2, 1, 3] : [s0, s1, 12, 64] -> [s0, 12, s1, 64]""",
    "keys transposed": """func.func @main(%x: [s0, 12, s1, 64]) -> [s0, 12, 64, s1] {
        %0 = cuvil_tensor.transpose %x input_order = [0, 1, 3, 2] : [s0, 12, s1, 64] -> [s0, 12, 64, s1]""",
    "mask added": """func.func @main(%x: [s0, 12, s1, s1], %m: [s0, s1]) -> [s0, 12, s1, s1] {
        %0 = cuvil_tensor.broadcast %m axes = [0, 3] : [s0, s1] -> [s0, 12, s1, s1]
        %1 = cuvil_tensor.binary add %x, %0 : [s0, 12, s1, s1]""",
    "cache grown": """func.func @main(%x: [s0, 12, s1, 64], %y: [s0, 12, 1, 64]) -> [s0, 12, s1 + 1, 64] {
        %0 = cuvil_tensor.concat %x, %y axis = 2
          : [s0, 12, s1, 64], [s0, 12, 1, 64] -> [s0, 12, s1 + 1, 64]""",
    "rows by a matrix": """func.func @main(%x: [s0, s1, 768], %w: [768, 768]) -> [s0, s1, 768] {
        %0 = cuvil_tensor.contract %x, %w lhs_batch = [] rhs_batch = [] lhs_contract = [2] rhs_contract = [0]
          : [s0, s1, 768], [768, 768] -> [s0, s1, 768]""",
    "weights by values": """func.func @main(%p: [s0, 12, s1, s1], %v: [s0, 12, s1, 64]) -> [s0, 12, s1, 64] {
        %0 = cuvil_tensor.contract %p, %v lhs_batch = [0, 1] rhs_batch = [0, 1] lhs_contract = [3] rhs_contract = [2]
          : [s0, 12, s1, s1], [s0, 12, s1, 64] -> [s0, 12, s1, 64]""",
    "attention": """func.func @main(%q: [s0, 12, s1, 64], %k: [s0, 12, s1, 64]) -> [s0, 12, s1, 64] {
        %0 = cuvil_tensor.attention %q, %k, %k scale = 0.125
          : [s0, 12, s1, 64], [s0, 12, s1, 64], [s0, 12, s1, 64] -> [s0, 12, s1, 64]""",
}
"""Programs with `[dims]` for types; what the last operation gives is the result."""


def module_of(program: str, is_symbolic: bool) -> ModuleOp:
    """The module of a program, with symbols or with their sizes."""

    def typed(match: re.Match[str]) -> str:
        dims = match[1].split(", ")
        if not is_symbolic:
            dims = [str(_size(dim)) for dim in dims]
        shape = "".join(f"{dim if dim.isdigit() else '?'}x" for dim in dims)
        names = ", ".join(dim if dim.isdigit() else f'"{dim}"' for dim in dims)
        return f"tensor<{shape}f32{f', #cuvil_tensor.dims<{names}>' if '?' in shape else ''}>"

    head, *body = program.splitlines()
    results = re.findall(r"(%\d+) =", program)[-1]
    types = re.findall(r"-> (\[.*\]) {", head)[0]
    text = "\n".join([head, *body, f"func.return {results} : {types}", "}"])
    # Attributes such as `axes = [2]` are no types: those follow a colon, a comma or an arrow.
    return parse_module(make_context(), re.sub(r"(?<!= )\[([^\]]+)\]", typed, text))


def _size(text: str) -> int:
    dim = parse_dim(text)
    return dim if isinstance(dim, int) else dim.evaluate(SIZES)


def seconds_a_call(call: Callable[[], object], count: int) -> float:
    """Process time of one call."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def ratio(program: str, rounds: int = 9) -> tuple[float, float]:
    """Seconds of a call with known dims, and how many times as long one with symbolic dims takes."""
    calls: list[Callable[[], object]] = []
    kept: list[object] = []
    for is_symbolic in (False, True):
        module = module_of(program, is_symbolic)
        native = NativeProgram(module, "main", {}, threads=1)
        arrays = make_inputs(module, "main", sizes=SIZES)
        results = native(arrays)
        inputs, outputs = ([array.ctypes.data for array in each] for each in (arrays, results))
        symbols = [SIZES[name] for name in native.host.symbols]
        calls.append(partial(native.executable.call, inputs, outputs, symbols))
        kept.append((arrays, results))
    count = max(1, int(0.05 / seconds_a_call(calls[0], 3)))
    pairs = [[seconds_a_call(call, count) for call in calls] for _ in range(rounds)]
    return median(known for known, _ in pairs), median(symbolic / known for known, symbolic in pairs)


def main() -> None:
    """Print the table."""
    print(f"{'program':<28}{'known dims':>12}{'symbolic':>12}")
    for name, program in PROGRAMS.items():
        seconds, times = ratio(program)
        print(f"{name:<28}{seconds * 1e6:>9.0f} us{times:>11.2f}x")


if __name__ == "__main__":
    main()
