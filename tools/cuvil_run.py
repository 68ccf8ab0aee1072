"""cuvil-run: execute a function of an .mlir file and print, compare or time what it computes.

    cuvil-run f.mlir --input 'dense<[1.0, 2.0]> : tensor<2xf32>'
    cuvil-run f.mlir --random --compare --time=20

Results go to standard output in a form that FileCheck can match; diagnostics go to standard error. The exit status is 0
if everything succeeded, 1 if the input or the command line is at fault or a comparison failed, 2 for a bug of ours.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.utils.exceptions import DiagnosticException, ParseError

from cuvil.errors import InternalError, PipelineError, SourceTexts, UserError, diagnostic_of, render
from cuvil.instrument.base import Instrument, PassRun
from cuvil.pipeline_syntax import SOURCE_NAME

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

    from cuvil.semantics.arrays import Array

DEFAULT_TOLERANCE = 1e-5
"""The relative norm error within which two engines agree."""

_DEFAULT_RUNS = 10


class _Parser(argparse.ArgumentParser):
    """argparse, with errors as everywhere else."""

    def error(self, message: str) -> Any:
        raise UserError(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point; returns the exit status."""
    sources = SourceTexts()
    try:
        return _run(_arguments().parse_args(sys.argv[1:] if arguments is None else arguments), sources)
    except PipelineError as error:
        print(render(diagnostic_of(error), {SOURCE_NAME: error.text}), file=sys.stderr)
    except InternalError as error:
        print(render(diagnostic_of(error), sources), file=sys.stderr)
        return 2
    except (DiagnosticException, ParseError) as error:
        print(render(diagnostic_of(error), sources), file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"cuvil-run: error: {error}", file=sys.stderr)
    return 1


def _positive(text: str) -> int:
    number = int(text) if text.lstrip("-").isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text}")
    return number


def _arguments() -> argparse.ArgumentParser:
    parser = _Parser(prog="cuvil-run", description="Execute a function of an .mlir file.", allow_abbrev=False)
    parser.add_argument("file", help="the module; '-' is standard input")
    parser.add_argument("--function", default="main", metavar="NAME", help="the function to run (default: main)")
    given = parser.add_argument_group("inputs")
    given.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="VALUE",
        help="the next argument, as 'dense<...> : type' or a number",
    )
    given.add_argument(
        "--inputs", default="", metavar="FILES", help="the next arguments, as .npy files, comma-separated"
    )
    given.add_argument(
        "--random", nargs="?", type=int, const=0, metavar="SEED", help="random values for arguments that are not given"
    )
    given.add_argument("--size", action="append", default=[], metavar="SYMBOL=N", help="the size of a symbolic dim")
    given.add_argument("--parameters", metavar="FILE", help="values of globals, as .npz; random if left out")
    how = parser.add_argument_group("execution")
    how.add_argument("--engine", choices=("interpreter", "native"), help="what runs it (default: as the level asks)")
    how.add_argument("--pipeline", default="", metavar="PASSES", help="passes to run on the module first")
    how.add_argument("--threads", type=_positive, metavar="N", help="threads of native code")
    what = parser.add_argument_group("output")
    what.add_argument(
        "--print", nargs="?", type=int, const=6, metavar="DIGITS", help="print results (default: 6 digits)"
    )
    what.add_argument("--no-print", action="store_true", help="do not print results")
    what.add_argument(
        "--compare", action="store_true", help="compare with another engine's results; status 1 if they differ"
    )
    what.add_argument(
        "--compare-with",
        choices=("interpreter", "native"),
        help="that engine, run on the module before --pipeline (default: the interpreter)",
    )
    what.add_argument(
        "--tolerance",
        type=float,
        default=DEFAULT_TOLERANCE,
        metavar="X",
        help="relative norm error allowed (default: 1e-5)",
    )
    what.add_argument(
        "--time", nargs="?", type=_positive, const=_DEFAULT_RUNS, metavar="N", help="median time of N runs"
    )
    what.add_argument("--json", action="store_true", help="comparison and times as JSON")
    return parser


def _run(options: argparse.Namespace, sources: SourceTexts) -> int:
    module = _read_module(options.file, sources)
    function, input_types, output_types = _signature(module, options.function)
    seed = options.random or 0
    inputs = _inputs(options, module, function, input_types, seed)
    parameters = _parameters(options, module, seed)
    original = module.clone()
    if options.pipeline:
        from cuvil.instrument.verify import VerifyEach
        from cuvil.pass_manager import PassManager

        PassManager(options.pipeline, instruments=[VerifyEach(), _KeepComputed(parameters)]).run(module)
    engine = _engine(options.engine, module, options.function, parameters, options.threads)
    results = engine(inputs)
    if not options.no_print:
        _print_results(results, output_types, 6 if options.print is None else options.print)
    report: dict[str, Any] = {}
    agree = True
    if options.compare or options.compare_with:
        reference = _engine(
            options.compare_with or "interpreter", original, options.function, parameters, options.threads
        )
        agree = _compare(results, reference(inputs), options, report)
    if options.time is not None:
        _time(engine, inputs, max(options.time, 1), options, report)
    if options.json:
        import json

        print(json.dumps(report, sort_keys=True))
    return 0 if agree else 1


# -- what to run -------------------------------------------------------------------------------------------------------


def _read_module(path: str, sources: SourceTexts) -> ModuleOp:
    from cuvil.instrument.verify import verify_module
    from cuvil.ir_text import parse_module
    from cuvil.tools.opt_files import read_input
    from cuvil.universe import make_context

    name, text = read_input(path)
    sources.add(name, text)
    module = parse_module(make_context(), text, name)
    verify_module(module)
    return module


def _signature(module: ModuleOp, name: str) -> tuple[Operation | None, Sequence[Attribute], Sequence[Attribute]]:
    """The function to run, and the types of its inputs and outputs as tensors."""
    from xdsl.dialects.func import FuncOp

    from cuvil.semantics.signatures import host_of, input_types, output_types

    host = host_of(module)
    if host is not None and host.function == name:
        return None, host.inputs, host.outputs
    functions = [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]
    for function in functions:
        if function.sym_name.data == name:
            return function, input_types(function), output_types(function)
    known = ", ".join(function.sym_name.data for function in functions) or "none"
    raise UserError(f"there is no function '{name}' to run; the module defines {known}")


def _inputs(
    options: argparse.Namespace, module: ModuleOp, function: Operation | None, types: Sequence[Attribute], seed: int
) -> list[Array]:
    import numpy as np

    from cuvil.semantics.random_inputs import make_inputs
    from cuvil.semantics.tensor_text import parse_array

    given: list[Array] = [np.load(path) for path in filter(None, options.inputs.split(","))]
    for text in options.input:
        if len(given) == len(types):
            raise UserError(f"function @{options.function} takes {len(types)} arguments, more are given", function)
        given.append(parse_array(text, types[len(given)]))
    if len(given) < len(types):
        if options.random is None:
            message = f"function @{options.function} takes {len(types)} arguments, {len(given)} are given"
            raise UserError(f"{message}; --random makes up the others", function)
        given += make_inputs(module, options.function, seed, _sizes(options.size))[len(given) :]
    return given


def _sizes(texts: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not number.isdigit():
            raise UserError(f"--size is SYMBOL=N, got '{text}'")
        sizes[name] = int(number)
    return sizes


class _KeepComputed(Instrument):
    """Evaluates globals with an initializer before flat buffers lose it; `parameters` takes their values up."""

    def __init__(self, parameters: dict[str, Array]) -> None:
        self.parameters = parameters

    def before_pass(self, run: PassRun) -> None:
        if run.name in ("lower-fused-to-loops", "lower-fused-to-gpu"):
            from cuvil.semantics.interpreter import Interpreter

            self.parameters.update(Interpreter(run.module, self.parameters).computed_globals())


def _parameters(options: argparse.Namespace, module: ModuleOp, seed: int) -> dict[str, Array]:
    import numpy as np

    from cuvil.semantics.random_inputs import make_parameters

    if options.parameters is None:
        return make_parameters(module, seed)
    with np.load(options.parameters) as file:
        return dict(file)


def _engine(
    name: str | None, module: ModuleOp, function: str, parameters: Mapping[str, Array], threads: int | None
) -> Any:
    """A callable from inputs to results."""
    from cuvil.semantics.interpreter import Interpreter
    from cuvil.semantics.levels import level_of

    level = level_of(module)
    if level == "gpu" and name == "native":
        raise UserError("kernels of cuvil_gpu run in the simulator (--engine=interpreter), not as native code")
    if level in ("buffers", "gpu") and name != "native":
        from cuvil.semantics.execution import execute

        return lambda inputs: execute(module, function, inputs, parameters)
    if name == "interpreter" or (name is None and level in ("tensor", "fused")):
        interpreter = Interpreter(module, parameters)
        return lambda inputs: interpreter.run(function, inputs)
    from cuvil.semantics.native_execution import NativeProgram

    return NativeProgram(module, function, parameters, threads)


# -- what to show ------------------------------------------------------------------------------------------------------


def _print_results(results: Sequence[Array], types: Sequence[Attribute], digits: int) -> None:
    from cuvil.semantics.tensor_text import format_array

    for number, result in enumerate(results):
        label = f" : {_concrete(types[number], result)}" if number < len(types) else ""
        print(f"result {number}{label} = {format_array(result, digits)}")


def _concrete(declared: Any, result: Array) -> str:
    from xdsl.dialects.builtin import TensorType

    if not isinstance(declared, TensorType):
        return str(declared)
    return str(TensorType(declared.element_type, result.shape))


def _compare(
    results: Sequence[Array], references: Sequence[Array], options: argparse.Namespace, report: dict[str, Any]
) -> bool:
    from cuvil.semantics.comparison import compare

    agree = len(results) == len(references)
    if not agree:
        print(f"error: {len(results)} results, the reference has {len(references)}", file=sys.stderr)
    rows: list[dict[str, Any]] = []
    for number, (result, reference) in enumerate(zip(results, references, strict=False)):
        found = compare(result, reference)
        within = found.within(options.tolerance)
        agree &= within
        rows.append({"relative_norm": found.relative_norm, "max_error": found.max_error, "agrees": within})
        verdict = "agrees" if within else "DIFFERS"
        exact = (
            " exactly" if found.is_exact else f": relative norm {found.relative_norm:.2g}, max {found.max_error:.2g}"
        )
        if not options.json:
            print(f"comparison {number} {verdict}{exact}")
    report["comparison"] = rows
    return agree


def _time(engine: Any, inputs: Sequence[Array], runs: int, options: argparse.Namespace, report: dict[str, Any]) -> None:
    import statistics
    import time

    times: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        engine(inputs)
        times.append(time.perf_counter() - start)
    report["time"] = {"median_s": statistics.median(times), "min_s": min(times), "runs": runs}
    if not options.json:
        print(f"time: median {1e3 * statistics.median(times):.3f} ms, min {1e3 * min(times):.3f} ms of {runs} runs")


if __name__ == "__main__":
    raise SystemExit(main())
