"""The pass manager: order of hooks, failures, nesting, and each instrument by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.passes import ModulePass

from cuvil import universe
from cuvil.errors import InternalError, PassError, UserError, ValidationError, VerificationError
from cuvil.instrument import remarks, statistics, warnings
from cuvil.instrument.base import Instrument, PassRun
from cuvil.instrument.printing import PrintIR
from cuvil.instrument.reproducer import CrashReproducer
from cuvil.instrument.roundtrip import RoundtripEach
from cuvil.instrument.snapshots import Snapshots
from cuvil.instrument.statistics import PassStatistics
from cuvil.instrument.timing import Timing
from cuvil.instrument.validate import Validate, difference, public_functions
from cuvil.instrument.verify import VerifyEach, verify_module
from cuvil.ir_text import parse_module, parse_text, print_op
from cuvil.pass_manager import PassManager, run_on_text
from cuvil.pipeline import Nested, Pipeline

TEXT = """
func.func @f(%a: f32) -> f32 {
  %0 = arith.constant 2.0 : f32
  %1 = arith.mulf %a, %0 : f32
  func.return %1 : f32
}
func.func private @declared()
func.func private @helper(%a: f32) -> f32 {
  func.return %a : f32
}
"""


def module() -> ModuleOp:
    return parse_module(universe.make_context(), TEXT, "m.mlir")


class Scale(ModulePass):
    """Replace every constant with another one."""

    name = "test-scale"
    factor: ClassVar[float] = 1.0
    tolerance: ClassVar[float] = 0.0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if isinstance(inner, arith.ConstantOp):
                inner.properties["value"] = FloatAttr(2.0 * self.factor, f32)


class ScaleALittle(Scale):
    """Change the constant by a part in a million."""

    name = "test-scale-a-little"
    factor = 1.000001


class ScaleALittleTolerantly(ScaleALittle):
    """The same, and say so."""

    name = "test-scale-tolerantly"
    tolerance = 1e-5


class Broken(ModulePass):
    """Raise what the test wants."""

    name = "test-broken"
    error: ClassVar[Exception] = KeyError("lost")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise self.error


class Log(Instrument):
    def __init__(self, log: list[str], name: str) -> None:
        self.log, self.name = log, name

    def before_pass(self, run: PassRun) -> None:
        self.log.append(f"{self.name} before {run.name}")

    def after_pass(self, run: PassRun) -> None:
        self.log.append(f"{self.name} after {run.name}")

    def on_failure(self, run: PassRun, error: Exception) -> None:
        self.log.append(f"{self.name} failure {run.name}: {type(error).__name__}")


def test_hooks_nest():
    log: list[str] = []
    PassManager("cse", [Log(log, "outer"), Log(log, "inner")]).run(module())
    assert log == ["outer before cse", "inner before cse", "inner after cse", "outer after cse"]


def test_every_instrument_hears_of_a_failure():
    log: list[str] = []
    with pytest.raises(InternalError):
        PassManager([Broken], [Log(log, "outer"), Log(log, "inner")]).run(module())
    assert log[2:] == ["outer failure test-broken: InternalError", "inner failure test-broken: InternalError"]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (KeyError("lost"), InternalError, "pass 'test-broken' broke: KeyError: 'lost'"),
        (UserError("cannot do it"), PassError, "pass 'test-broken' failed: cannot do it"),
        (InternalError("our bug"), InternalError, "our bug"),
    ],
)
def test_errors_say_whose_fault_it_is(error: Exception, kind: type[Exception], message: str):
    class Raises(Broken):
        pass

    Raises.error = error
    with pytest.raises(kind) as caught:
        PassManager([Raises]).run(module())
    assert str(caught.value) == message


def test_researchers_api():
    class Mine(ModulePass):
        name = "test-mine"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            remarks.emit("passed", pass_name=self.name, op=op, message="was here")

    universe.register_pass(Mine)
    try:
        pipeline = Pipeline.of("cse,dce").insert_after("cse", "test-mine")
        with remarks.collect() as found:
            text = run_on_text(pipeline, TEXT)
        assert [remark.text for remark in found] == ["[passed] test-mine: was here"]
        assert "func.func @f" in text
    finally:
        universe.unregister_pass("test-mine")


def test_nested_passes_run_on_each_function_in_place():
    log: list[str] = []

    class Seen(ModulePass):
        name = "test-seen"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            log.append(",".join(inner.name for inner in op.ops))

    target = module()
    before = print_op(target)
    PassManager([Nested("func.func", (Seen(),))]).run(target)
    assert log == ["func.func"] * 3
    assert print_op(target) == before


def test_a_nested_pass_that_fails_leaves_the_function_in_place():
    target = module()
    with pytest.raises(InternalError):
        PassManager([Nested("func.func", (Broken(),))]).run(target)
    assert print_op(target) == print_op(module())


def test_verification_names_the_pass():
    class Invalidate(ModulePass):
        name = "test-invalidate"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            constant = next(inner for inner in op.walk() if isinstance(inner, arith.ConstantOp))
            constant.properties["value"] = FloatAttr(1.0, 64)

    with pytest.raises(VerificationError, match=r"after pass 'test-invalidate': arith\.constant") as caught:
        PassManager([Invalidate], [VerifyEach()]).run(module())
    assert str(caught.value.location) == "m.mlir:3:8"


def test_dominance_of_a_chain_of_many_blocks_needs_no_deep_recursion():
    blocks = "".join(f"^b{i}:\n  cf.br ^b{i + 1}\n" for i in range(3000))
    text = f"func.func @f() {{\n  cf.br ^b0\n{blocks}^b3000:\n  func.return\n}}"
    verify_module(parse_module(universe.make_context(), text))


def test_remarks_and_counters_cost_nothing_when_nobody_listens():
    assert not remarks.is_enabled()
    assert not statistics.is_enabled()
    remarks.emit("missed", pass_name="p", message="m")
    statistics.count("p", "c")
    with remarks.collect() as outer, remarks.collect() as inner, statistics.collect() as counters:
        assert remarks.is_enabled()
        remarks.emit("missed", pass_name="p", message="m", args={"n": 1})
        statistics.count("p", "c", 2)
    assert outer == inner
    assert len(outer) == 1
    assert outer[0].args == {"n": 1}
    assert counters.get("p", "c") == 2
    assert counters.get("p", "other") == 0


def test_remarks_know_function_and_location():
    target = module()
    multiply = next(op for op in target.walk() if isinstance(op, arith.MulfOp))
    with remarks.collect() as found:
        remarks.emit("missed", pass_name="p", message="m", op=multiply)
    (remark,) = found
    assert (remark.function, remark.op_name, str(remark.location)) == ("f", "arith.mulf", "m.mlir:4:8")


def test_a_warning_without_a_listener_is_pythons():
    with pytest.warns(warnings.CuvilWarning, match="m.mlir:1:2: odd"):
        warnings.warn(
            "odd", parse_text(universe.make_context(), " func.func private @f()", "m.mlir").module.body.block.first_op
        )


def test_timing_and_statistics_of_nested_passes():
    timing, counters = Timing(), PassStatistics()
    PassManager("cse,func.func(cse)", [counters, timing]).run(module())
    report = timing.report()
    assert report.index("'func.func' Pipeline") > report.index("cse")
    assert "operations-before" in counters.report()
    assert counters.merged().get("cse", "operations-before") > 0


def test_snapshots_parse_back(tmp_path: Path):
    PassManager("cse,dce", [Snapshots(str(tmp_path)), RoundtripEach()]).run(module())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00-input.mlir", "01-cse.mlir", "02-dce.mlir"]
    for path in tmp_path.iterdir():
        parse_module(universe.make_context(), path.read_text())


def test_printing_survives_ir_that_cannot_be_printed(capsys: pytest.CaptureFixture[str]):
    class Mangle(ModulePass):
        name = "test-mangle"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            next(iter(op.ops)).properties.clear()
            raise KeyError

    with pytest.raises(InternalError):
        PassManager([Mangle], [PrintIR(after_failure=True)]).run(module())
    assert "IR Dump After test-mangle Failed" in capsys.readouterr().err


def test_reproducer_holds_the_module_as_it_was(tmp_path: Path):
    path = tmp_path / "crash.mlir"
    with pytest.raises(InternalError) as caught:
        PassManager(["cse", Broken], [CrashReproducer(str(path), local=True)]).run(module())
    assert "cuvil-opt --run-reproducer" in caught.value.notes[0].message
    parsed = parse_text(universe.make_context(), path.read_text())
    assert parsed.reproducer is not None
    assert parsed.reproducer.pipeline == "builtin.module(test-broken)"
    assert "arith.mulf" in print_op(parsed.module)


class FakeSemantics:
    """Runs @f of `TEXT`: the input times the constant."""

    def __init__(self, spoil: Callable[[ModuleOp], None] | None = None) -> None:
        self.spoil = spoil

    def make_inputs(self, module: ModuleOp, name: str, seed: int) -> list[Any]:
        return [np.random.default_rng(seed).standard_normal(8, dtype=np.float64)]

    def make_parameters(self, module: ModuleOp, seed: int) -> dict[str, Any]:
        return {}

    def execute(self, module: ModuleOp, name: str, inputs: Any, parameters: Any) -> list[Any]:
        if self.spoil is not None:
            self.spoil(module)
        constant = next(op for op in module.walk() if isinstance(op, arith.ConstantOp))
        assert isinstance(constant.value, FloatAttr)
        return [inputs[0] * constant.value.value.data]


def test_validation_accepts_what_does_not_change():
    PassManager(["cse", Scale, "dce"], [Validate(1, FakeSemantics())]).run(module())


def test_validation_names_pass_function_and_difference():
    with pytest.raises(ValidationError) as caught:
        PassManager(["cse", ScaleALittle], [Validate(1, FakeSemantics())]).run(module())
    message = str(caught.value)
    assert "pass 'test-scale-a-little' changes what @f computes: result #0: relative norm 9.5" in message
    assert "tolerance 0; max difference" in message
    assert str(caught.value.location) == "m.mlir:2:1"


def test_validation_grants_the_stated_tolerance():
    PassManager([ScaleALittleTolerantly], [Validate(1, FakeSemantics())]).run(module())


def test_validation_reports_what_cannot_be_run():
    def spoil(module: ModuleOp) -> None:
        raise UserError("no meaning for foo.bar")

    with pytest.raises(ValidationError, match=r"@f cannot be run before the pipeline: no meaning for foo\.bar"):
        PassManager("cse", [Validate(0, FakeSemantics(spoil))]).run(module())


def test_only_public_functions_are_validated():
    assert public_functions(module()) == ["f"]


def test_differences():
    nan, inf = np.float32("nan"), np.float32("inf")
    values = np.array([1.0, nan, inf, -0.0], np.float32)
    assert difference([values], [values.copy()], 0.0) is None
    assert difference([values], [np.array([1.0, nan, inf, 0.0], np.float32)], 0.0) is not None
    assert difference([values], [np.array([1.0, nan, inf, 0.0], np.float32)], 1e-6) is None
    assert "NaN or infinity" in (difference([values], [np.array([1.0, 2.0, inf, 0.0], np.float32)], 1.0) or "")
    assert "NaN or infinity" in (difference([values], [np.array([1.0, nan, -inf, 0.0], np.float32)], 1.0) or "")
    assert "float32[4] before, float64[4] after" in (difference([values], [values.astype(np.float64)], 1.0) or "")
    assert "1 results before, 0 after" in (difference([values], [], 1.0) or "")
    integers = np.array([1, 2])
    assert "max difference 3 at [1]: 2 before, 5 after" in (difference([integers], [np.array([1, 5])], 1.0) or "")
