"""Pipelines as text: what parses, what it means, and what the errors say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from cuvil import universe
from cuvil.errors import PipelineError, SourceLocation
from cuvil.pass_options import OptionTypeError, coerce, pass_text
from cuvil.pipeline import (
    CPU_STAGES,
    NAMED_PIPELINES,
    Nested,
    Pipeline,
    default_pipeline,
    find_named_pipeline,
    parse_pipeline,
    pipeline_table,
    register_pipeline,
    target_names,
)
from cuvil.pipeline_syntax import PassNode, parse, quote


@dataclass(frozen=True)
class OptionsPass(ModulePass):
    """Takes options of every type."""

    name = "options-of-every-type"

    size: int = 1
    ratio: float = 0.5
    verbose: bool = False
    label: str = "plain"
    tiles: tuple[int, ...] = ()
    mode: Literal["fast", "exact"] = "fast"
    limit: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx, op


@pytest.fixture(autouse=True)
def options_pass():
    universe.register_pass(OptionsPass)
    yield
    universe.unregister_pass(OptionsPass.name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cse",
        "cse,canonicalize{max-iterations=5},dce",
        "func.func(cse,canonicalize)",
        "cse,func.func(cse),dce",
        "builtin.module(func.func(cse))",
        'options-of-every-type{size=3 ratio=1e-05 verbose=true label="a b" tiles=1,2 mode=exact limit=4}',
    ],
)
def test_text_is_a_fixpoint(text: str):
    once = str(parse_pipeline(text))
    assert str(parse_pipeline(once)) == once
    assert str(parse_pipeline(parse_pipeline(text).nested_text())) == once


def test_nested_form_equals_flat_form():
    assert str(parse_pipeline("builtin.module( cse , func.func( dce ) )")) == "cse,func.func(dce)"
    assert str(parse_pipeline("cse,\n  dce")) == "cse,dce"


@given(
    size=st.integers(-(2**40), 2**40),
    ratio=st.floats(allow_nan=False),
    verbose=st.booleans(),
    label=st.text(max_size=12),
    tiles=st.lists(st.integers(), max_size=3).map(tuple),
    mode=st.sampled_from(["fast", "exact"]),
    limit=st.none() | st.integers(),
)
def test_every_option_value_survives_text(size: int, ratio: float, verbose: bool, label: str, tiles, mode, limit):
    universe.register_pass(OptionsPass)
    pass_ = OptionsPass(size, ratio, verbose, label, tiles, mode, limit)
    assert list(parse_pipeline(pass_text(pass_)).passes()) == [pass_]
    assert list(parse_pipeline(pass_text(pass_, all_options=True)).passes()) == [pass_]


@given(st.text(max_size=20))
def test_quoted_values_survive(value: str):
    (node,) = parse(f"p{{x={quote(value)}}}")
    assert node.options[0].values == (value,)  # pyright: ignore[reportAttributeAccessIssue]


def error_location(text: str) -> SourceLocation | None:
    """Where the error in a pipeline is; None if it parses."""
    try:
        parse_pipeline(text)
    except PipelineError as error:
        return error.location or SourceLocation("nowhere", 0, 0)
    return None


@given(st.text(alphabet="ab.-,(){}[]=\"' \\\n", max_size=16))
def test_any_text_parses_or_is_a_located_error(text: str):
    location = error_location(text)
    assert location is None or 1 <= location.line <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("cse,csee", 5, "unknown pass 'csee'; did you mean 'cse'?"),
        ("Zzz", 1, "unknown pass 'Zzz'"),
        ("func.func(cse", 10, "'(' is never closed"),
        ("cse))", 4, "unbalanced ')'"),
        ("cse,,dce", 5, "expected a pass name"),
        ("cse dce", 5, "expected ',' before 'd'"),
        ("canonicalize{max-iterations=", 29, "expected a value"),
        ("canonicalize{", 13, "'{' is never closed"),
        ('canonicalize{x="a', 16, "the quote is never closed"),
        ("canonicalize{max-iterations=x}", 29, "expects int, got 'x'"),
        ("options-of-every-type{mode=slow}", 28, "expects fast | exact, got 'slow'"),
        ("options-of-every-type{verbose=maybe}", 31, "expects bool, got 'maybe'"),
        ("module(cse)", 1, "expected an operation's name before '('"),
        ("canonicalize[cse]", 13, "only 'mlir-opt' takes a pipeline in brackets"),
        ("normalize{x=1}", 11, "pipeline 'normalize' takes no options"),
    ],
)
def test_errors_point_into_the_text(text: str, column: int, message: str):
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.column == column
    assert text in str(caught.value)


def test_caret_is_on_the_right_line():
    with pytest.raises(PipelineError) as caught:
        parse_pipeline("cse,\n  csee")
    assert str(caught.value).splitlines()[1:] == ["  csee", "  ^~~~"]


def test_named_pipelines_expand():
    register_pipeline("clean-up", "cse,dce")
    try:
        assert str(parse_pipeline("clean-up,func.func(clean-up)")) == "cse,dce,func.func(cse,dce)"
    finally:
        del NAMED_PIPELINES["clean-up"]
    with pytest.raises(PipelineError, match="is the name of a pass"):
        register_pipeline("cse", "dce")


def test_default_pipelines_are_syntactically_sound():
    for target in target_names():
        assert parse(default_pipeline(target))
        assert find_named_pipeline(target) == default_pipeline(target)
        assert all(stage.ensures in pipeline_table(target) for stage in CPU_STAGES)
    with pytest.raises(PipelineError, match="unknown target 'tpu'; known: cpu"):
        default_pipeline("tpu")


def test_default_cpu_pipeline_keeps_the_order_of_its_levels():
    names = [node.name for node in parse(default_pipeline("cpu")) if isinstance(node, PassNode)]
    levels = ["decompose", "fold-constants", "fuse", "bufferize", "plan-memory", "lower-fused-to-loops", "lower-math"]
    assert [name for name in names if name in levels] == levels
    assert names[-1] == "lower-loops-to-llvm"


def test_pipelines_are_edited_without_text():
    pipeline = Pipeline.of("cse,dce")
    assert str(pipeline.insert_before("dce", OptionsPass(size=2))) == "cse,options-of-every-type{size=2},dce"
    assert str(pipeline.insert_after("cse", OptionsPass)) == "cse,options-of-every-type,dce"
    assert str(pipeline.before("dce")) == "cse"
    assert str(pipeline.after("cse")) == "dce"
    assert str(pipeline.without("cse")) == "dce"
    assert (
        str(Pipeline.of(Nested("func.func", (OptionsPass(),)), pipeline)) == "func.func(options-of-every-type),cse,dce"
    )
    assert len(Pipeline.of("cse,func.func(dce,cse)")) == 3
    with pytest.raises(PipelineError, match="there is no pass 'fuse'"):
        pipeline.before("fuse")


def test_module_passes_of_ours_do_not_nest():
    with pytest.raises(PipelineError, match="works on a whole module; it cannot be nested"):
        parse_pipeline("func.func(lower-loops-to-llvm)")


def test_coercion():
    assert coerce(("0x10",), int) == 16
    assert coerce(("1",), float) == 1.0
    assert coerce(None, bool) is True
    assert coerce(None, int | None) is None
    assert coerce(("1", "2"), tuple[int, ...]) == (1, 2)
    assert coerce(("1", "b"), tuple[int, str]) == (1, "b")
    assert coerce(("b",), int | str) == "b"
    for values, hint in [((), int), (("1", "2"), int), (("1",), tuple[int, str]), (("x",), bool), (("x",), int)]:
        with pytest.raises(OptionTypeError):
            coerce(values, hint)


def test_registering_a_built_in_name_is_refused():
    class Mine(ModulePass):
        name = "cse"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            del ctx, op

    with pytest.raises(ValueError, match="exists already"):
        universe.register_pass(Mine)


def test_what_is_no_pass_is_refused() -> None:
    with pytest.raises(PipelineError, match="expected a text, a pass or a pipeline, got 3"):
        Pipeline.of("cse", 3)  # pyright: ignore[reportArgumentType]
