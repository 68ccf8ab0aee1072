"""cuvil-opt: read IR, run passes on it, print the result.

Standard output carries the resulting IR and nothing else; diagnostics, dumps and reports go to standard error. The exit
status is 0 if everything succeeded, 1 if the input or the command line is at fault, 2 for a bug of ours. Nothing is
output, and no output file is touched, unless everything succeeded.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException

from cuvil import universe
from cuvil.errors import CuvilError, Diagnostic, InternalError, PipelineError, SourceTexts, diagnostic_of, render
from cuvil.instrument import warnings
from cuvil.instrument.timing import Timing
from cuvil.instrument.verify import verify_module
from cuvil.ir_text import Chunk, ParsedText, parse_text, split_chunks
from cuvil.pass_manager import PassManager
from cuvil.pipeline import Pipeline, parse_pipeline
from cuvil.pipeline_syntax import SOURCE_NAME
from cuvil.tools.opt_arguments import OptParser, UsageError
from cuvil.tools.opt_diagnostics import ExpectingSink, PrintingSink, Sink, parse_expectations
from cuvil.tools.opt_files import read_input, write_file
from cuvil.tools.opt_instruments import make_instruments, print_options
from cuvil.tools.opt_remarks import RemarkReport
from cuvil.tools.opt_targets import Emitter, find_emitter

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from cuvil.instrument.statistics import PassStatistics

_BACKTRACE = "CUVIL_BACKTRACE"
_RECURSION_LIMIT = 20_000


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point; returns the exit status."""
    # Deeply nested regions are legal; the parser, verifier and printer of xDSL recurse into them.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
    try:
        return _main(sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; a second error at exit would be noise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        print(f"cuvil-opt: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        _print_backtrace(error)
        return 2


def _main(arguments: Sequence[str]) -> int:
    try:
        options = OptParser().parse(arguments)
        if _answer_query(options):
            return 0
        return Driver(options).run()
    except PipelineError as error:
        print(render(diagnostic_of(error), {SOURCE_NAME: error.text}), file=sys.stderr)
    except UsageError as error:
        print(f"cuvil-opt: error: {error.message}", file=sys.stderr)
    except CuvilError as error:
        print(render(diagnostic_of(error)), file=sys.stderr)
    return 1


def _answer_query(options: argparse.Namespace) -> bool:
    """Print what the user asked to know about the tool; False if it was nothing."""
    from cuvil.tools import opt_queries

    text = opt_queries.answer(options)
    if text is None:
        return False
    sys.stdout.write(text)
    return True


@dataclass
class Driver:
    """One run of the tool."""

    options: argparse.Namespace
    sources: SourceTexts = field(default_factory=SourceTexts)
    timing: Timing = field(default_factory=Timing)
    statistics: PassStatistics | None = None
    broke: bool = False
    """True once an internal error was reported."""

    def __post_init__(self) -> None:
        self.remarks = RemarkReport(self.options, self.sources)
        if self.options.statistics:
            from cuvil.instrument.statistics import PassStatistics

            self.statistics = PassStatistics()

    def run(self) -> int:
        """Process the input; returns the exit status."""
        options = self.options
        pipeline = self.pipeline()
        emitter = find_emitter(options.target)
        if options.dump_pass_pipeline:
            print(pipeline.nested_text(), file=sys.stderr)
        name, text = read_input(options.input_file)
        self.sources.add(name, text)
        chunks = list(split_chunks(text, options.split_input_file)) if options.split_input_file else [Chunk(text)]
        outputs: list[str] = []
        succeeded = True
        for chunk in chunks:
            output, chunk_succeeded = self.process(chunk, name, pipeline, emitter)
            succeeded &= chunk_succeeded
            outputs += [output] if output is not None else []
        self.report()
        if succeeded:
            self.write_output(f"{options.output_split_marker}\n".join(outputs))
        return 2 if self.broke else int(not succeeded)

    def pipeline(self) -> Pipeline:
        options = self.options
        return parse_pipeline(",".join(options.passes) if options.pass_pipeline is None else options.pass_pipeline)

    def process(self, chunk: Chunk, name: str, pipeline: Pipeline, emitter: Emitter) -> tuple[str | None, bool]:
        """Process a part of the input; returns the output, None if there is none, and whether it went well."""
        sink = self.sink(chunk, name)
        output: str | None = None
        try:
            with ExitStack() as stack:
                stack.enter_context(warnings.listening(sink.report))
                stack.enter_context(self.remarks.listening(sink))
                output = self.compile(chunk, name, pipeline, emitter)
        except ShrinkException:
            return self.shrunk()
        except ParseError as error:
            sink.report(diagnostic_of(error))
            if self.options.parsing_diagnostics:
                return None, True
        except PipelineError as error:
            # Of a reproducer: the one on the command line was parsed before.
            self.sources.add(SOURCE_NAME, error.text)
            sink.report(diagnostic_of(error))
        except InternalError as error:
            self.report_broken(error, sink)
        except DiagnosticException as error:
            sink.report(diagnostic_of(error))
        except RecursionError as error:
            sink.report(Diagnostic("error", f"the IR is nested too deeply: {error}"))
        except Exception as error:
            self.report_broken(error, sink)
        return output, sink.finish() and not self.broke and not self.options.shrink

    def compile(self, chunk: Chunk, name: str, pipeline: Pipeline, emitter: Emitter) -> str:
        """Parse, run the pipeline, print. Raises whatever goes wrong."""
        options = self.options
        manager = PassManager(pipeline, (), universe.make_context(options.allow_unregistered))
        with self.timing.scope("Parser"):
            parsed = self.parse(chunk, name, manager)
        if options.run_reproducer and parsed.reproducer is not None:
            manager.pipeline = parse_pipeline(parsed.reproducer.pipeline or "")
            options.verify_each = parsed.reproducer.verify_each
        module = parsed.module
        self.verify(module)
        if options.roundtrip:
            self.check_roundtrip(manager, module)
        manager.instruments = make_instruments(options, self.timing, self.statistics)
        manager.run(module)
        # With nothing run since, or with every pass verified, the module is known to be valid.
        if len(manager.pipeline) and not options.verify_each:
            self.verify(module)
        if options.roundtrip and len(manager.pipeline):
            self.check_roundtrip(manager, module)
        with self.timing.scope("Output"):
            return emitter(manager.context, module, print_options(options))

    def parse(self, chunk: Chunk, name: str, manager: PassManager) -> ParsedText:
        from cuvil.tools.opt_frontends import find_frontend

        options = self.options
        frontend = find_frontend(options.frontend, options.input_file)
        if frontend is not None:
            return ParsedText(frontend(manager.context, chunk.text, name))
        return parse_text(
            manager.context,
            chunk.text,
            name,
            first_line=chunk.first_line,
            implicit_module=not options.no_implicit_module,
        )

    def verify(self, module: ModuleOp) -> None:
        if not self.options.disable_verify:
            with self.timing.scope("(verify)"):
                verify_module(module)

    def check_roundtrip(self, manager: PassManager, module: ModuleOp) -> None:
        from cuvil.instrument.roundtrip import check_roundtrip

        check_roundtrip(manager.context, module)

    def sink(self, chunk: Chunk, name: str) -> Sink:
        mode: str | None = self.options.verify_diagnostics
        if mode is None:
            return PrintingSink(sys.stderr, self.sources)
        expectations, problems = parse_expectations(chunk.text, name, chunk.first_line)
        sink = ExpectingSink(expectations, sys.stderr, self.sources, mode == "only-expected")
        for problem in problems:
            sink.report(problem)
        return sink

    def report(self) -> None:
        """Print what was measured and the remarks that were kept."""
        options = self.options
        if options.timing:
            sys.stderr.write(self.timing.report(options.timing_display, options.timing_format))
        if self.statistics is not None:
            sys.stderr.write(self.statistics.report(options.statistics_display))
        if (text := self.remarks.report()) is None:
            return
        if options.remarks_output_file:
            write_file(options.remarks_output_file, text)
        else:
            sys.stderr.write(text)

    def report_broken(self, error: Exception, sink: Sink) -> None:
        """Report a bug of ours: one line, and how to get more."""
        self.broke = True
        diagnostic = diagnostic_of(error)
        message = diagnostic.message if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
        notes = list(diagnostic.notes)
        if not self.options.crash_reproducer:
            advice = "for a reproducer run again with --mlir-pass-pipeline-crash-reproducer=FILE"
            notes.append(Diagnostic("note", f"{advice}; for a traceback set {_BACKTRACE}=1"))
        sink.report(Diagnostic("error", f"internal error: {message}", diagnostic.location, tuple(notes)))
        _print_backtrace(error)

    def shrunk(self) -> tuple[str | None, bool]:
        """What a pass that asks for shrinking means: success, if the user runs shrinkray."""
        if not self.options.shrink:
            print("error: a pass asked to shrink the input; run with --shrink", file=sys.stderr)
            return None, False
        print("success, can shrink", file=sys.stderr)
        return None, True

    def write_output(self, text: str) -> None:
        path: str = self.options.output_file
        if path == "-":
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            write_file(path, text)


def _print_backtrace(error: Exception) -> None:
    """The Python traceback of a bug of ours, if the user's environment asks for it."""
    if os.environ.get(_BACKTRACE, "0") not in ("", "0"):
        import traceback

        traceback.print_exception(error)


if __name__ == "__main__":
    sys.exit(main())
