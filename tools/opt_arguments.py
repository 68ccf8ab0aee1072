"""The command line of cuvil-opt: options in groups, in MLIR's spelling and in xDSL's.

Three conveniences that argparse lacks are a rewriting of the arguments before it sees them: `--cse` and
`--canonicalize=max-iterations=5` become parts of the pipeline in the order given; a flag such as `--verify-each` needs
no value but takes `=0`; long options may have one dash.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from cuvil import universe
from cuvil.errors import UserError

DESCRIPTION = "Read IR, run passes on it, and print the result."
_BOOLEANS = {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}


class UsageError(UserError):
    """The command line is wrong."""


class _HelpFormatter(argparse.HelpFormatter):
    """Shows options as they are written: `--name=VALUE`, `--switch`, `--flag[=VALUE]`."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = f"={self._format_args(action, action.dest.upper())}"
        if isinstance(action, _OptionalValue):
            value = "" if action.metavar == "BOOL" else f"[{value}]"
        # The first name is MLIR's; the others are for those who come from xDSL.
        shown = [name for name in action.option_strings if len(name) == 2 or name == action.option_strings[-1]]
        if not any(len(name) == 2 for name in action.option_strings):
            shown = action.option_strings[:1]
        return ", ".join(shown) + value


class _OptionalValue(argparse._StoreAction):  # pyright: ignore[reportPrivateUsage]
    """Stores a value that may be left out on the command line."""


class OptParser(argparse.ArgumentParser):
    """The parser of cuvil-opt's command line; raises `UsageError`, and lists the passes in its help."""

    def __init__(self) -> None:
        super().__init__(
            prog="cuvil-opt",
            description=DESCRIPTION,
            usage="cuvil-opt [options] [passes] [file]",
            formatter_class=lambda prog: _HelpFormatter(prog, max_help_position=44, width=118),
            allow_abbrev=False,
            add_help=False,
        )
        self.constants: dict[str, str] = {}
        """What an option that is given without a value stands for."""
        for declare in (
            _input,
            _pipeline,
            _output,
            _printing,
            _dumps,
            _checks,
            _measuring,
            _remarks,
            _crashes,
            _queries,
        ):
            declare(self)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def flag(self, group: Any, *names: str, without_value: str, **settings: Any) -> None:
        """Declare an option whose value may be left out."""
        group.add_argument(*names, action=_OptionalValue, **settings)
        self.constants.update(dict.fromkeys(names, without_value))

    def switch(self, group: Any, *names: str, dest: str, help: str, default: bool = False) -> None:
        """Declare a boolean option: `--name`, `--name=0`, `--name=true`."""
        self.flag(
            group, *names, without_value="true", dest=dest, default=default, type=_boolean, metavar="BOOL", help=help
        )

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options that the arguments stand for. Raises `UsageError`."""
        # Before anything else: the passes of these files have flags too.
        for path in _plugin_files(arguments):
            universe.load_pass_file(path)
        namespace, unknown = self.parse_known_args(self._rewritten(arguments))
        if unknown:
            raise UsageError(self._unknown(unknown[0]))
        if namespace.pass_pipeline is not None and namespace.passes:
            raise UsageError("--pass-pipeline cannot be combined with -p or a pass's own flag")
        return namespace

    def format_help(self) -> str:
        ours = [name for name in universe.pass_names() if universe.is_cuvil_pass(name)]
        upstream = [name for name in universe.pass_names() if not universe.is_cuvil_pass(name)]
        lines = ["", "Cuvil's passes (as --NAME, --NAME=options or in a pipeline):"]
        lines += [f"  {name:<30}  {universe.pass_summary(name)}" for name in ours]
        wrapped = textwrap.fill(
            ", ".join(upstream), 116, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        lines += ["", "xDSL's passes:", wrapped, ""]
        return super().format_help() + "\n".join(lines)

    def _rewritten(self, arguments: Sequence[str]) -> list[str]:
        passes = set(universe.pass_names())
        options = set(self._option_string_actions)
        return [rewritten for argument in arguments for rewritten in self._rewrite(argument, passes, options)]

    def _rewrite(self, argument: str, passes: set[str], options: set[str]) -> list[str]:
        if not argument.startswith("-") or argument in ("-", "--"):
            return [argument]
        name, equals, value = argument.partition("=")
        bare = name.lstrip("-")
        if not name.startswith("--") and len(name) > 2 and (f"--{bare}" in options or bare in passes):
            name = f"--{bare}"
        if name not in options and name.startswith("--") and bare in passes:
            return ["-p", f"{bare}{{{_stripped(value)}}}" if equals else bare]
        if not equals and name in self.constants:
            return [f"{name}={self.constants[name]}"]
        return [name + equals + value]

    def _unknown(self, argument: str) -> str:
        from difflib import get_close_matches

        name = argument.partition("=")[0]
        if not name.startswith("-"):
            return f"more than one input file: '{argument}'"
        known = [*self._option_string_actions, *(f"--{name}" for name in universe.pass_names(with_plugins=True))]
        near = get_close_matches(name if name.startswith("--") else f"-{name}", known, 1)
        return f"unknown option '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")


def _input(parser: OptParser) -> None:
    group = parser.add_argument_group("input")
    group.add_argument("input_file", nargs="?", default="-", metavar="file", help="a file, or - for standard input")
    group.add_argument(
        "-f", "--frontend", metavar="NAME", help="how to read the input (default: by extension, else mlir)"
    )
    parser.flag(
        group, "--split-input-file", without_value="// -----", metavar="MARKER", help="process the parts between lines "
        "'// -----' by themselves"
    )  # fmt: skip
    parser.switch(group, "--allow-unregistered-dialect", dest="allow_unregistered", help="accept unknown operations")
    parser.switch(group, "--no-implicit-module", dest="no_implicit_module", help="refuse input that is not one module")


def _pipeline(parser: OptParser) -> None:
    group = parser.add_argument_group("pipeline")
    group.add_argument(
        "-p", "--passes", action="append", default=[], metavar="PIPELINE", help="passes to run: 'cse,fuse{max-ops=8}'"
    )
    group.add_argument(
        "--pass-pipeline", metavar="PIPELINE", help="the same in MLIR's form: 'builtin.module(func.func(cse))'"
    )
    group.add_argument("--load-pass-plugin", action="append", metavar="FILE", help="a Python file that defines passes")
    parser.switch(
        group,
        "--dump-pass-pipeline",
        dest="dump_pass_pipeline",
        help="print the pipeline, named ones expanded, to stderr",
    )


def _output(parser: OptParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output-file",
        default="-",
        metavar="FILE",
        help="written only if everything succeeded (default: stdout)",
    )
    group.add_argument("-t", "--target", default="mlir", metavar="NAME", help="form of the output (see --list-targets)")
    group.add_argument(
        "--output-split-marker", default="// -----", metavar="MARKER", help="printed between the outputs of split input"
    )


def _printing(parser: OptParser) -> None:
    group = parser.add_argument_group("printer")
    parser.switch(group, "--mlir-print-op-generic", "--print-op-generic", dest="generic", help="generic form")
    parser.switch(
        group, "--mlir-print-debuginfo", "--print-debuginfo", dest="debuginfo", help="print locations: loc(...)"
    )
    parser.switch(
        group,
        "--mlir-print-local-scope",
        dest="local_scope",
        help="attributes inline, never as aliases (always the case)",
    )
    group.add_argument(
        "--mlir-elide-elementsattrs-if-larger", dest="elide", type=int, metavar="N",
        help="leave out the elements of constants with more than N of them",
    )  # fmt: skip
    parser.switch(group, "--print-no-properties", dest="no_properties", help="print properties as attributes")
    parser.switch(group, "--syntax-highlight", dest="highlight", help="colours for a terminal")


def _dumps(parser: OptParser) -> None:
    group = parser.add_argument_group("IR dumps (to stderr)")
    group.add_argument("--mlir-print-ir-before", dest="before", action="append", default=[], metavar="PASSES")
    group.add_argument("--mlir-print-ir-after", dest="after", action="append", default=[], metavar="PASSES")
    parser.switch(group, "--mlir-print-ir-before-all", dest="before_all", help="before every pass")
    parser.switch(
        group, "--mlir-print-ir-after-all", "--print-between-passes", dest="after_all", help="after every pass"
    )
    parser.switch(group, "--mlir-print-ir-after-change", dest="after_change", help="after passes that changed the IR")
    parser.switch(group, "--mlir-print-ir-after-failure", dest="after_failure", help="after a pass that failed")
    parser.switch(
        group, "--mlir-print-ir-module-scope", dest="module_scope", help="the whole module, in nested passes too"
    )
    group.add_argument("--mlir-print-ir-tree-dir", dest="tree_dir", metavar="DIR", help="into a tree of files")
    group.add_argument("--snapshots", metavar="DIR", help="the module after every pass: DIR/01-fuse.mlir")


def _checks(parser: OptParser) -> None:
    group = parser.add_argument_group("checks")
    parser.switch(
        group, "--verify-each", dest="verify_each", default=True, help="verify after every pass (default: yes)"
    )
    parser.switch(group, "--disable-verify", dest="disable_verify", help="never verify, neither input nor output")
    parser.switch(group, "--verify-roundtrip", dest="roundtrip", help="check that printed IR parses back the same")
    parser.flag(
        group, "--verify-diagnostics", without_value="all", choices=["all", "only-expected"],
        help="check diagnostics against expected-error {{...}} comments",
    )  # fmt: skip
    parser.switch(group, "--parsing-diagnostics", dest="parsing_diagnostics", help="a parse error is no failure")
    parser.flag(
        group, "--validate", without_value="0", type=int, metavar="SEED",
        help="run before and after every pass on random inputs, and compare",
    )  # fmt: skip


def _measuring(parser: OptParser) -> None:
    group = parser.add_argument_group("measuring (to stderr)")
    parser.switch(group, "--mlir-disable-threading", dest="no_threads", help="run passes one by one (always the case)")
    parser.switch(group, "--mlir-timing", "--time-passes", dest="timing", help="time of every pass")
    group.add_argument("--mlir-timing-display", dest="timing_display", choices=["tree", "list"], default="tree")
    group.add_argument("--mlir-output-format", dest="timing_format", choices=["text", "json"], default="text")
    parser.switch(group, "--mlir-pass-statistics", dest="statistics", help="counters of every pass")
    group.add_argument(
        "--mlir-pass-statistics-display", dest="statistics_display", choices=["pipeline", "list"], default="pipeline"
    )


def _remarks(parser: OptParser) -> None:
    group = parser.add_argument_group("remarks: what passes did, declined and found")
    group.add_argument(
        "--remarks-filter", action="append", default=[], metavar="REGEX",
        help="kinds or passes to report: 'missed', 'passed|missed', 'fuse', 'missed=fuse'",
    )  # fmt: skip
    for kind in ("passed", "missed", "analysis", "failed"):
        group.add_argument(
            f"--remarks-filter-{kind}", action="append", default=[], metavar="REGEX", help="by pass name"
        )
    group.add_argument("--remark-format", choices=["text", "json", "yaml"], default="text")
    group.add_argument(
        "--remarks-output-file", metavar="FILE", help="instead of stderr; all remarks if there is no filter"
    )


def _crashes(parser: OptParser) -> None:
    group = parser.add_argument_group("crashes")
    group.add_argument(
        "--mlir-pass-pipeline-crash-reproducer", dest="crash_reproducer", metavar="FILE",
        help="written if a pass fails: the input and the pipeline",
    )  # fmt: skip
    parser.switch(
        group, "--mlir-pass-pipeline-local-reproducer", dest="local_reproducer", help="only the pass that failed"
    )
    parser.switch(group, "--run-reproducer", dest="run_reproducer", help="run the pipeline kept in the input")
    parser.switch(group, "--shrink", dest="shrink", help="succeed if a pass asks to shrink, for shrinkray")


def _queries(parser: OptParser) -> None:
    group = parser.add_argument_group("what there is")
    group.add_argument("-h", "--help", action="store_true", help="this text")
    group.add_argument("-v", "--version", action="store_true")
    group.add_argument("--list-passes", action="store_true")
    group.add_argument("--describe-pass", metavar="NAME", help="what a pass does, and its options")
    group.add_argument("--list-pipelines", action="store_true", help="named pipelines and targets' default ones")
    group.add_argument("--list-targets", action="store_true")
    group.add_argument("--show-dialects", action="store_true")


def _plugin_files(arguments: Sequence[str]) -> list[str]:
    """The values of --load-pass-plugin, given as `--load-pass-plugin=FILE` or as two arguments."""
    files: list[str] = []
    for index, argument in enumerate(arguments):
        name, equals, path = argument.partition("=")
        if name in ("--load-pass-plugin", "-load-pass-plugin"):
            files += [path] if equals else arguments[index + 1 : index + 2]
    return files


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise argparse.ArgumentTypeError(f"expected true or false, got '{text}'")
    return _BOOLEANS[text.lower()]


def _stripped(options: str) -> str:
    """The options of a pass's flag without the braces that may be around them."""
    return options[1:-1] if options.startswith("{") and options.endswith("}") else options
