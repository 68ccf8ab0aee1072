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
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

from cuvil.compiled_module import CompiledModule, MemoryReport, interpreting_runner, native_runner
from cuvil.errors import UserError
from cuvil.frontends.exported import ImportedModule, trace_model
from cuvil.instrument import remarks
from cuvil.lowering import WHOLE, Lowering, lower_to_native
from cuvil.options import Options
from cuvil.pipeline import TARGET_STAGES, Pipeline, target_names

if TYPE_CHECKING:
    import torch
    from typing_extensions import TypeIs

    from cuvil.frontends.source.function import CompiledFunction
    from cuvil.instrument.base import Instrument

INTERPRETER = "interpreter"

Progress = Callable[[str, int, int], None]
"""Called as each stage starts: its name, how many are done, how many there are."""


@overload
def compile(
    model: torch.jit.ScriptModule | torch.jit.ScriptFunction[..., Any],
    example_inputs: Sequence[Any] | None = ...,
    *,
    target: str = ...,
    options: Options | Mapping[str, Any] | None = ...,
    kwargs: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    pipeline: Pipeline | str | None = ...,
    instruments: Sequence[Instrument] = ...,
) -> CompiledFunction: ...


@overload
def compile(
    model: torch.nn.Module,
    example_inputs: Sequence[Any],
    *,
    target: str = ...,
    options: Options | Mapping[str, Any] | None = ...,
    kwargs: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    pipeline: Pipeline | str | None = ...,
    instruments: Sequence[Instrument] = ...,
    dynamic_shapes: Any = ...,
) -> CompiledModule: ...


@overload
def compile(
    model: FunctionType,
    example_inputs: Sequence[Any] | None = ...,
    *,
    target: str = ...,
    options: Options | Mapping[str, Any] | None = ...,
    kwargs: Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    pipeline: Pipeline | str | None = ...,
    instruments: Sequence[Instrument] = ...,
) -> CompiledFunction: ...


@overload
def compile(
    model: None = ...,
    *,
    target: str = ...,
    options: Options | Mapping[str, Any] | None = ...,
    progress: Progress | None = ...,
    pipeline: Pipeline | str | None = ...,
    instruments: Sequence[Instrument] = ...,
) -> Callable[[FunctionType], CompiledFunction]: ...


def compile(
    model: torch.nn.Module | FunctionType | torch.jit.ScriptFunction[..., Any] | None = None,
    example_inputs: Sequence[Any] | None = None,
    *,
    target: str = "cpu",
    options: Options | Mapping[str, Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    pipeline: Pipeline | str | None = None,
    instruments: Sequence[Instrument] = (),
    dynamic_shapes: Any = None,
) -> CompiledModule | CompiledFunction | Callable[[FunctionType], CompiledFunction]:
    """Compile a model for inputs of the example's dtypes and shapes, or a Python function for those it is called with.

    `@cuvil.compile` and `@cuvil.compile(options=...)` decorate functions: their source is read, so that branches and
    loops on tensors stay what they are; see docs/functions.md. `kwargs` are keyword arguments of the example.
    `pipeline` runs in place of the target's default one, which `Pipeline.of("cpu").insert_before("fuse", MyPass)`
    extends; `instruments` are around every pass. A model must be in eval mode; its weights are taken as they are now.
    `dynamic_shapes` says which dims of a model's inputs are open, as torch.export's does, with `cuvil.Dim`: one
    compilation serves their whole range; see docs/how-to/dynamic-shapes.md.

    Raises `UnsupportedOpsError` for what cannot be compiled, `OptionError` for wrong options, and `UserError` for an
    unknown target or a model that torch.export cannot trace, `PipelineError` for a pipeline that does not lead to
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

    def lowered(imported: ImportedModule, started: float) -> CompiledModule:
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

    def of_function(function: FunctionType) -> CompiledFunction:
        from cuvil.frontends.source.function import CompiledFunction

        return CompiledFunction(function, lambda imported: lowered(imported, time.perf_counter()))

    if dynamic_shapes is not None:
        _refuse_open_functions(model)
    if is_torchscript(model):
        from cuvil.frontends.torchscript import compile_script

        return compile_script(model, lambda imported: lowered(imported, time.perf_counter()), example_inputs, kwargs)
    if model is None:
        return of_function
    if isinstance(model, FunctionType):
        compiled = of_function(model)
        if example_inputs is not None:
            compiled.specialize(tuple(example_inputs), dict(kwargs or {}))
        return compiled
    if example_inputs is None:
        raise UserError(f"compiling a {type(model).__name__} needs example inputs: cuvil.compile(model, (x,))")
    report("trace")
    if dynamic_shapes is not None:
        return _open_model(model, (example_inputs, kwargs), dynamic_shapes, lambda imported: lowered(imported, started))
    return _known_model(model, (example_inputs, kwargs), lowered, started)


def _refuse_open_functions(model: Any) -> None:
    """Raise `UserError` for what has no open dims."""
    if model is None or isinstance(model, FunctionType) or is_torchscript(model):
        raise UserError(
            "dynamic_shapes is for models (torch.nn.Module) that torch.export takes: a function is compiled for each "
            "signature that it is called with, and TorchScript for its example; wrap the function in a module"
        )


def _known_model(
    model: torch.nn.Module,
    example: tuple[Sequence[Any], Mapping[str, Any] | None],
    lowered: Callable[[ImportedModule, float], CompiledModule],
    started: float,
) -> CompiledModule:
    """A model for the sizes of its example."""
    imported = trace_model(model, *example, is_called=True)
    compiled = lowered(imported, started)
    if imported.effects is None:
        return compiled
    from cuvil.mutating_module import mutating_module

    return mutating_module(model, imported, compiled, example, lambda other: lowered(other, time.perf_counter()))


def _open_model(
    model: torch.nn.Module,
    example: tuple[Sequence[Any], Mapping[str, Any] | None],
    dynamic_shapes: Any,
    lowered: Callable[[ImportedModule], CompiledModule],
) -> CompiledModule:
    """A model with open dims, compiled once and tried where torch.export did not look."""
    from cuvil.frontends.dynamic_export import check_probes
    from cuvil.frontends.exported_symbols import trace_dynamic

    imported, probes = trace_dynamic(model, *example, dynamic_shapes, is_called=True)
    compiled = lowered(imported)
    if imported.effects is not None:
        from cuvil.mutating_module import open_mutating_module

        return open_mutating_module(model, imported, compiled, example, probes)
    check_probes(model, compiled, probes)
    return compiled


def is_torchscript(model: Any) -> TypeIs[torch.jit.ScriptModule | torch.jit.ScriptFunction[..., Any]]:
    """Whether a model is a scripted, traced or loaded module or function; by its type's name, which loads nothing."""
    return any(kind.__module__.startswith("torch.jit") for kind in type(model).__mro__)


def trace(
    model: torch.nn.Module,
    example_inputs: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> ImportedModule:
    """A model as a module to run pipelines on: `PassManager("normalize,fuse").run(trace(model, (x,)).module)`.

    Raises as `compile` does for a model that cannot be traced or imported.
    """
    if dynamic_shapes is not None:
        from cuvil.frontends.exported_symbols import trace_dynamic

        return trace_dynamic(model, example_inputs, kwargs, dynamic_shapes)[0]
    return trace_model(model, example_inputs, kwargs)


def _interpreted(imported: ImportedModule, settings: Options, started: float) -> CompiledModule:
    # Copies, or a model that is trained on would change under the compiled one.
    imported = replace(imported, parameters={name: value.copy() for name, value in imported.parameters.items()})
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
