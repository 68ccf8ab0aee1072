"""The whole way down: a model is traced, lowered by the target's pipeline, emitted, loaded, and its weights are bound.

    compiled = compile(model, (x,), options={"threads": 2})
    y = compiled(x)

The pipelines stand in `cuvil/pipeline.py`, stage by stage. `target="interpreter"` runs the reference interpreter
instead of compiled code: slow, exact, and without any pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cuvil.compiled_module import CompiledModule, MemoryReport, interpreting_runner, native_runner
from cuvil.errors import UserError
from cuvil.frontends.exported import ImportedModule, trace_model
from cuvil.instrument import remarks
from cuvil.lowering import WHOLE, Lowering, lower_to_native
from cuvil.options import Options
from cuvil.pipeline import TARGET_STAGES, Pipeline, target_names

if TYPE_CHECKING:
    import torch

    from cuvil.instrument.base import Instrument

INTERPRETER = "interpreter"

Progress = Callable[[str, int, int], None]
"""Called as each stage starts: its name, how many are done, how many there are."""


def compile(
    model: torch.nn.Module,
    example_inputs: Sequence[Any],
    *,
    target: str = "cpu",
    options: Options | Mapping[str, Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    pipeline: Pipeline | str | None = None,
    instruments: Sequence[Instrument] = (),
) -> CompiledModule:
    """Compile a model for inputs of the example's dtypes and shapes.

    `kwargs` are keyword arguments of the model's forward. `pipeline` runs in place of the target's default one, which
    `Pipeline.of("cpu").insert_before("fuse", MyPass)` extends; `instruments` are around every pass. The model must be in eval mode; its weights are taken as they
    are now. Raises `UnsupportedOpsError` for what cannot be compiled, `OptionError` for wrong options, and `UserError`
    for an unknown target or a model that torch.export cannot trace, `PipelineError` for a pipeline that does not lead to
    native code.
    """
    started = time.perf_counter()
    settings = Options.of(options)
    if target != INTERPRETER and target not in target_names():
        raise UserError(f"unknown target '{target}'; known: {', '.join([*target_names(), INTERPRETER])}")
    custom = None if pipeline is None else Pipeline.of(pipeline)
    stages = ["trace"]
    if target != INTERPRETER:
        parts = [WHOLE] if custom is not None or instruments else [stage.name for stage in TARGET_STAGES[target]]
        stages += [*parts, "emit", "bind"]
    report = _reporter(stages, progress)

    report("trace")
    imported = trace_model(model, example_inputs, kwargs)
    imported.module.verify()
    if target == INTERPRETER:
        return _interpreted(imported, settings, started)
    with remarks.collect() as said:
        native = lower_to_native(Lowering(imported, target, settings, custom, instruments), report)
    # The executable has the weights that it reads; the originals of packed ones must not be kept alive.
    imported = replace(imported, parameters={})
    return CompiledModule(
        imported,
        native_runner(native.executable, imported),
        target=target,
        options=settings,
        memory=native.memory,
        compile_seconds=time.perf_counter() - started,
        remarks=said,
        stage_text=Lowering(imported, target, settings, custom).text,
    )


def trace(
    model: torch.nn.Module, example_inputs: Sequence[Any], kwargs: Mapping[str, Any] | None = None
) -> ImportedModule:
    """A model as a module to run pipelines on: `PassManager("normalize,fuse").run(trace(model, (x,)).module)`.

    Raises as `compile` does for a model that cannot be traced or imported.
    """
    return trace_model(model, example_inputs, kwargs)


def _interpreted(imported: ImportedModule, settings: Options, started: float) -> CompiledModule:
    return CompiledModule(
        imported,
        interpreting_runner(imported),
        target=INTERPRETER,
        options=settings,
        memory=MemoryReport(0, 0, sum(value.nbytes for value in imported.parameters.values())),
        compile_seconds=time.perf_counter() - started,
        stage_text=Lowering(imported, INTERPRETER, settings).text,
    )


def _reporter(stages: Sequence[str], progress: Progress | None) -> Callable[[str], None]:
    def report(stage: str) -> None:
        if progress is not None:
            progress(stage, stages.index(stage), len(stages))

    return report
