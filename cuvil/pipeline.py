"""Pass pipelines: what runs, in which order, on which operations.

A pipeline is text (`normalize,fuse{max-ops=32}`, or MLIR's `builtin.module(func.func(cse,canonicalize))`), passes given
as objects, or both mixed: `Pipeline.of("normalize", MyPass(), "fuse")`. `str(pipeline)` parses back.

The tables below are the way down, target by target: what each stage runs and what holds when it is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.passes import ModulePass

from cuvil import pipeline_syntax, universe
from cuvil.errors import PipelineError
from cuvil.pass_options import build_pass, pass_text
from cuvil.pipeline_syntax import AnchorNode, Node, PassNode


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a target's pipeline: the passes, and the contract that holds after them."""

    name: str
    passes: str
    ensures: str


NORMALIZE = "decompose{keep=attention},generalize,infer-shapes,canonicalize,cse,dce,fold-constants"

CPU_STAGES = (
    Stage("import", "fold-batch-norm", "inference only: no batch_norm where a contraction can take it up"),
    Stage(
        "normalize", NORMALIZE, "cuvil_tensor core: no composites, explicit broadcast, shapes inferred, no duplicates"
    ),
    Stage("layout", "rewrite-layout,hoist-parameters", "layouts chosen; what depends on weights alone is a global"),
    Stage("fuse", "fuse,pack-weights,hoist-parameters", "cuvil_fused: kernels on tensors; constant weights are packed"),
    Stage("memory", "bufferize,plan-memory", "destination style on memrefs; every buffer a view of one arena"),
    Stage(
        "loops", "lower-fused-to-loops,lower-math", "func, scf, arith, vector, memref on flat buffers; no math calls"
    ),
    Stage("llvm", "lower-loops-to-llvm", "llvm dialect only, with the entry of the C ABI"),
)

TARGET_STAGES: dict[str, tuple[Stage, ...]] = {"cpu": CPU_STAGES}
"""The default pipeline of each target, stage by stage."""

NAMED_PIPELINES: dict[str, str] = {"normalize": NORMALIZE}
"""Names that stand for a list of passes wherever a pass may stand; targets' names do as well."""


@dataclass(frozen=True)
class Nested:
    """Passes that run on every operation called `anchor` by itself."""

    anchor: str
    steps: tuple[Step, ...]


Step: TypeAlias = ModulePass | Nested


@dataclass(frozen=True)
class Pipeline:
    """Passes to run on a module, in order."""

    steps: tuple[Step, ...] = ()

    @staticmethod
    def of(*parts: str | ModulePass | type[ModulePass] | Nested | Pipeline) -> Pipeline:
        """The pipeline of texts, passes and pipelines, in order.

        Raises `PipelineError` for a malformed text, and for what is neither a text, a pass nor a pipeline.
        """
        steps: list[Step] = []
        for part in parts:
            match part:
                case str():
                    steps += parse_pipeline(part).steps
                case Pipeline():
                    steps += part.steps
                case type() if issubclass(part, ModulePass):  # pyright: ignore[reportUnnecessaryIsInstance]
                    steps.append(part())
                case ModulePass() | Nested():
                    steps.append(part)
                case _:
                    raise PipelineError(f"expected a text, a pass or a pipeline, got {part!r}")
        return Pipeline(tuple(steps))

    def passes(self) -> Iterator[ModulePass]:
        """All passes, nested ones too, in the order in which they run."""
        return _passes(self.steps)

    def before(self, name: str) -> Pipeline:
        """The steps before the first pass called `name`. Raises `PipelineError` if there is none."""
        return Pipeline(self.steps[: self._index(name)])

    def after(self, name: str) -> Pipeline:
        """The steps after the first pass called `name`. Raises `PipelineError` if there is none."""
        return Pipeline(self.steps[self._index(name) + 1 :])

    def insert_before(self, name: str, *parts: str | ModulePass | type[ModulePass] | Pipeline) -> Pipeline:
        """This pipeline with `parts` just before the first pass called `name`."""
        index = self._index(name)
        return Pipeline((*self.steps[:index], *Pipeline.of(*parts).steps, *self.steps[index:]))

    def insert_after(self, name: str, *parts: str | ModulePass | type[ModulePass] | Pipeline) -> Pipeline:
        """This pipeline with `parts` just after the first pass called `name`."""
        index = self._index(name) + 1
        return Pipeline((*self.steps[:index], *Pipeline.of(*parts).steps, *self.steps[index:]))

    def without(self, name: str) -> Pipeline:
        """This pipeline without any top-level pass called `name`."""
        return Pipeline(tuple(step for step in self.steps if isinstance(step, Nested) or step.name != name))

    def nested_text(self) -> str:
        """The pipeline in MLIR's form: `builtin.module(a,func.func(b))`."""
        return f"builtin.module({self})"

    def __str__(self) -> str:
        return ",".join(step_text(step) for step in self.steps)

    def __len__(self) -> int:
        return sum(1 for _ in self.passes())

    def _index(self, name: str) -> int:
        for index, step in enumerate(self.steps):
            if not isinstance(step, Nested) and step.name == name:
                return index
        raise PipelineError(f"there is no pass '{name}' at the top level of '{self}'")


def parse_pipeline(text: str) -> Pipeline:
    """The pipeline that `text` describes, flat or nested, named pipelines expanded.

    Raises `PipelineError`, located in the text, for bad syntax, unknown names and wrong options.
    """
    nodes = pipeline_syntax.parse(text)
    if len(nodes) == 1 and isinstance(nodes[0], AnchorNode) and nodes[0].op_name in ("builtin.module", "any"):
        nodes = nodes[0].elements
    return Pipeline(tuple(step for node in nodes for step in _steps(text, node, anchored=False)))


def target_names() -> list[str]:
    """The targets that have a default pipeline."""
    return sorted(TARGET_STAGES)


def default_pipeline(target: str) -> str:
    """The text of a target's default pipeline. Raises `PipelineError` for an unknown target."""
    if target not in TARGET_STAGES:
        raise PipelineError(f"unknown target '{target}'; known: {', '.join(target_names())}")
    return ",".join(stage.passes for stage in TARGET_STAGES[target])


def pipeline_table(target: str) -> str:
    """A target's pipeline as a table to read: stage, passes, what holds afterwards."""
    lines = [f"{target}:"]
    for stage in TARGET_STAGES[target]:
        lines += [f"  {stage.name:<10} {stage.passes}", f"  {'':<10} ensures: {stage.ensures}"]
    return "\n".join(lines)


def register_pipeline(name: str, text: str) -> None:
    """Make `name` stand for `text` in pipelines. Raises `PipelineError` if a pass has that name."""
    if universe.find_pass(name) is not None:
        raise PipelineError(f"'{name}' is the name of a pass")
    NAMED_PIPELINES[name] = text


def find_named_pipeline(name: str) -> str | None:
    """The text that a pipeline's name stands for: an alias or a target's default pipeline; None if unknown."""
    return NAMED_PIPELINES.get(name) or (default_pipeline(name) if name in TARGET_STAGES else None)


def step_text(step: Step) -> str:
    """A step as written in a pipeline."""
    if isinstance(step, Nested):
        return f"{step.anchor}({','.join(step_text(inner) for inner in step.steps)})"
    return pass_text(step)


def runs_on_functions(pass_class: type[ModulePass]) -> bool:
    """True if a pass may run on one function by itself, as `func.func(...)` asks.

    A pass of ours says so with `function_local: ClassVar[bool] = True`; upstream's and the user's are trusted, and the
    pass manager refuses what they do outside the function.
    """
    return getattr(pass_class, "function_local", not universe.is_cuvil_pass(pass_class.name))


def _passes(steps: tuple[Step, ...]) -> Iterator[ModulePass]:
    for step in steps:
        if isinstance(step, Nested):
            yield from _passes(step.steps)
        else:
            yield step


def _steps(text: str, node: Node, anchored: bool) -> Iterator[Step]:
    if isinstance(node, AnchorNode):
        yield _nested(text, node)
        return
    if (named := find_named_pipeline(node.name)) is not None:
        if node.options:
            raise pipeline_syntax.error(text, f"pipeline '{node.name}' takes no options", node.options[0].name_span)
        yield from _expand(text, node, named)
        return
    pass_class = _find_pass(text, node)
    if anchored and not runs_on_functions(pass_class):
        message = f"pass '{node.name}' works on a whole module; it cannot be nested in another operation"
        raise pipeline_syntax.error(text, message, node.span)
    yield build_pass(text, node, pass_class)


def _nested(text: str, node: AnchorNode) -> Nested:
    if "." not in node.op_name:
        message = f"expected an operation's name before '(', such as func.func, got '{node.op_name}'"
        raise pipeline_syntax.error(text, message, node.span)
    anchored = node.op_name != "builtin.module"
    return Nested(node.op_name, tuple(step for inner in node.elements for step in _steps(text, inner, anchored)))


def _expand(text: str, node: PassNode, named: str) -> tuple[Step, ...]:
    """The steps of a named pipeline; an error in it is shown at its name, since that is all the user wrote."""
    try:
        return parse_pipeline(named).steps
    except PipelineError as problem:
        message = f"pipeline '{node.name}' = '{named}': {problem.message}"
        raise pipeline_syntax.error(text, message, node.span) from problem


def _find_pass(text: str, node: PassNode) -> type[ModulePass]:
    try:
        found = universe.find_pass(node.name)
    except ImportError as problem:
        message = f"pass '{node.name}' cannot be loaded: {problem}"
        raise pipeline_syntax.error(text, message, node.span) from problem
    if found is None:
        raise pipeline_syntax.error(text, _unknown_pass(node.name), node.span)
    return found


def _unknown_pass(name: str) -> str:
    from difflib import get_close_matches

    known = [*universe.pass_names(with_plugins=True), *NAMED_PIPELINES, *TARGET_STAGES]
    near = get_close_matches(name.replace("_", "-"), known, 1)
    return f"unknown pass '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
