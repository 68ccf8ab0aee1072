"""From an imported module to native code: the target's pipeline stage by stage, emission, loading, binding of weights.

What leaves the IR on the way is taken along here: initializers of globals before buffers are flat (they are evaluated
by the reference interpreter, once), the order of the external globals before they become positions in a table, and the
size of the arena.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import BFloat16Type, DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute

from cuvil.compiled_module import MemoryReport
from cuvil.dialects.fused import ParameterOp, buffer_type_of, size_bytes
from cuvil.dialects.tensor import GlobalOp, symbols_of
from cuvil.errors import InternalError, PipelineError, UserError
from cuvil.frontends.exported import ImportedModule
from cuvil.instrument.base import Instrument, PassRun
from cuvil.instrument.verify import VerifyEach, verify_module
from cuvil.ir_text import print_op
from cuvil.options import Options
from cuvil.pass_manager import PassManager
from cuvil.pipeline import TARGET_STAGES, Nested, Pipeline, Step, default_pipeline
from cuvil.runtime.executable import Executable
from cuvil.semantics.arrays import Array, bf16_bits
from cuvil.semantics.dims import SymbolRange
from cuvil.targets.legality import verify_stage

LEVELS = {"cuvil_tensor": "normalize", "cuvil_fused": "fuse", "buffers": "memory", "arena": "memory"}
"""Other names of stages: the levels of the IR that they end in."""
LAST_OF_A_DIALECT = ("layout", "memory")
"""Stages that a dialect ends with: verifying costs as much as building an op, so it is done here and no oftener.

The llvm dialect is not among them: LLVM itself verifies what its text says, in less time."""
SMALL_BYTES = 16 * 1024
"""Programs without loops on at most as many bytes are emitted at LLVM's level 0: half of the time to the first result,
and run times that are lost beside that of a call."""
WHOLE = "passes"
"""The name of the one part that a caller's pipeline has."""
FLATTEN = "lower-fused-to-loops"
TO_LLVM = "lower-loops-to-llvm"
LLVM_IR = "llvm-ir"
ASSEMBLY = "assembly"
_INPUTS = "cuvil.inputs"
_ARENA_BYTES = "cuvil_fused.arena_bytes"


@dataclass(frozen=True)
class NativeCode:
    """What the way down ends in."""

    executable: Executable
    memory: MemoryReport


def lower_to_native(lowering: Lowering, report: Callable[[str], None] = lambda stage: None) -> NativeCode:
    """Native code of an imported module, ready to run; the module stays as it is. `report` hears of each stage.

    Raises `PipelineError` if a pipeline of the caller's does not lead to the llvm dialect.
    """
    from cuvil.codegen.callbacks import callbacks_of
    from cuvil.codegen.jit import compile_objects, load_executable

    for name, passes in lowering.parts():
        _check_leads_down(passes if name == WHOLE else None)
        report(name)
        lowering.run(passes)
        lowering.check(name)
    report("emit")
    objects = compile_objects(lowering.module, _cpu_target(), level=lowering.emission_level())
    report("bind")
    parameters = lowering.bound_parameters()
    executable = load_executable(
        objects,
        input_count=sum(given.type is not None for given in lowering.imported.inputs),
        output_count=sum(output.type is not None for output in lowering.imported.outputs),
        arena_bytes=lowering.arena_bytes,
        parameters=parameters,
        symbol_count=len(lowering.symbols),
        callbacks=callbacks_of(lowering.module),
    )
    executable.set_threads(lowering.options.threads)
    return NativeCode(executable, lowering.memory(parameters, executable))


@dataclass
class Lowering:
    """One module on its way down a target's pipeline."""

    imported: ImportedModule
    target: str
    options: Options
    custom: Pipeline | None = None
    """What runs in place of the target's default pipeline."""
    extra: Sequence[Instrument] = ()
    """Instruments of the caller's, around every pass."""
    module: ModuleOp = field(init=False)
    globals: ModuleOp | None = None
    """The tensor-level globals, initializers included, as they were before buffers became flat."""
    parameter_names: tuple[str, ...] = ()
    arena_bytes: int | None = 0
    """None where compiled code computes it from the symbols."""
    symbols: dict[str, SymbolRange] = field(default_factory=dict[str, SymbolRange])
    """In the order of the entry's array."""

    def __post_init__(self) -> None:
        self.module = self.imported.module.clone()

    # -- passes ------------------------------------------------------------------------------------------------------

    def run(self, passes: Pipeline) -> None:
        """Run passes, and take along what they remove."""
        PassManager(passes, [_Keeper(self), *self.instruments()]).run(self.module)

    def check(self, stage: str) -> None:
        """Check what a stage of the default pipeline ensures; at the end of each dialect verify the whole module."""
        verify_stage(self.module, stage)
        if stage in LAST_OF_A_DIALECT:
            verify_module(self.module)

    def parts(self) -> list[tuple[str, Pipeline]]:
        """What there is to run: the target's stages; one part where the pipeline or an instrument is the caller's."""
        if self.custom is not None or self.extra:
            return [(WHOLE, self.adapted(self.custom or default_pipeline(self.target)))]
        return [(stage.name, self.adapted(stage.passes)) for stage in TARGET_STAGES[self.target]]

    def adapted(self, passes: str | Pipeline) -> Pipeline:
        """Passes as the options want them."""
        pipeline = Pipeline.of(passes)
        if not self.options.fuse_conv_bn_relu:
            pipeline = pipeline.without("fold-batch-norm")
        asked: dict[str, str] = {}
        if not self.options.enable_memory_reuse:
            asked["plan-memory"] = "plan-memory{reuse=false}"
        if self.options.threads is not None:
            asked["lower-fused-to-loops"] = f"lower-fused-to-loops{{threads={self.options.threads}}}"
        return Pipeline.of(*(_asked(step, asked) for step in pipeline.steps))

    def instruments(self) -> list[Instrument]:
        """What the options ask to be done around every pass."""
        found: list[Instrument] = [*self.extra]
        if self.options.verify:
            found.append(VerifyEach())
        if self.options.validate:
            from cuvil.instrument.validate import Validate

            found.append(Validate())
        return found

    def take_globals(self) -> None:
        """Keep the globals as they are, and in the module those that the program itself reads."""
        declared = [op for op in self.module.ops if isinstance(op, GlobalOp)]
        self.globals = ModuleOp([op.clone() for op in declared])
        read = {
            op.symbol.string_value()
            for function in self.module.ops
            if isinstance(function, func.FuncOp)
            for op in function.walk()
            if isinstance(op, ParameterOp)
        }
        for op in declared:
            if op.sym_name.data not in read:
                op.detach()
                op.erase()
        host = self.host()
        self.symbols = symbols_of(host)
        arena = host.attributes.get(_ARENA_BYTES)
        self.arena_bytes = arena.value.data if isinstance(arena, IntegerAttr) else 0 if arena is None else None
        host.attributes[_INPUTS] = IntegerAttr(sum(given.type is not None for given in self.imported.inputs), 64)

    def take_parameters(self) -> None:
        """Keep the order of the external globals, which becomes that of a table."""
        externals = [
            op
            for op in self.module.ops
            if isinstance(op, memref.GlobalOp) and not isinstance(op.initial_value, DenseIntOrFPElementsAttr)
        ]
        self.parameter_names = tuple(op.sym_name.data for op in externals)

    def host(self) -> func.FuncOp:
        """The function that the model became."""
        for op in self.module.ops:
            if isinstance(op, func.FuncOp) and op.sym_name.data == self.imported.name:
                return op
        raise InternalError(f"the pipeline lost the function @{self.imported.name}")

    # -- code --------------------------------------------------------------------------------------------------------

    def text(self, stage: str | None = None) -> str:
        """The IR after a stage, a pass or at a level, from the imported module on."""
        if stage is None or stage in ("import", "trace"):
            return print_op(self.imported.module)
        if self.target not in TARGET_STAGES:
            raise UserError(f"target '{self.target}' has no stages: there is the imported module only")
        lowering = Lowering(self.imported, self.target, self.options, self.custom)
        if stage in (LLVM_IR, ASSEMBLY):
            for _, passes in lowering.parts():
                lowering.run(passes)
            return lowering._emitted(stage)
        lowering._run_to(stage)
        return print_op(lowering.module)

    def _run_to(self, name: str) -> None:
        """Run up to the end of a stage, or up to a pass. Raises `UserError` if there is neither."""
        parts = self.parts()
        known = [part for part, _ in parts if part != WHOLE]
        wanted = LEVELS.get(name, name)
        kept: list[Step] = []
        for part, pipeline in parts:
            for step in pipeline.steps:
                kept.append(step)
                if wanted not in known and not isinstance(step, Nested) and step.name == wanted:
                    return self.run(Pipeline(tuple(kept)))
            if part == wanted:
                return self.run(Pipeline(tuple(kept)))
        raise UserError(f"unknown stage '{name}'; known: {', '.join([*known, *LEVELS, LLVM_IR, ASSEMBLY])}, any pass")

    def _emitted(self, form: str) -> str:
        from cuvil.codegen.llvm_text import module_to_text

        text = module_to_text(self.module, _cpu_target())
        if form == LLVM_IR:
            return text
        from cuvil.codegen.object_code import assembly_of

        return assembly_of(text, _cpu_target())

    def emission_level(self) -> int:
        """LLVM's effort for this program, 0 to 3."""
        from cuvil.codegen.object_code import LEVEL, QUICK_LEVEL

        return QUICK_LEVEL if self._is_small() else LEVEL

    def _is_small(self) -> bool:
        given = [each.type for each in (*self.imported.inputs, *self.imported.outputs) if each.type is not None]
        held = [op.value_type for op in self.imported.module.ops if isinstance(op, GlobalOp)]
        sizes = [self.arena_bytes, *(size_bytes(buffer_type_of(each)) for each in (*given, *held))]
        total = sum(size if isinstance(size, int) else SMALL_BYTES + 1 for size in sizes)
        return total <= SMALL_BYTES and not any(
            isinstance(op, scf.WhileOp | scf.ForOp) for op in self.imported.module.walk()
        )

    # -- weights -----------------------------------------------------------------------------------------------------

    def bound_parameters(self) -> list[Array]:
        """The values of the external globals in their order, as native code reads them; initializers are evaluated."""
        from cuvil.semantics.interpreter import Interpreter

        if self.globals is None:
            raise InternalError("globals were not taken along")
        interpreter = Interpreter(self.globals, self.imported.parameters)
        declared = {op.sym_name.data: op for op in self.globals.ops if isinstance(op, GlobalOp)}
        values: list[Array] = []
        for name in self.parameter_names:
            op = declared.get(name)
            if op is None:
                raise InternalError(f"global @{name} appeared after buffers became flat")
            element_type = op.value_type.element_type
            if op.initializer is None:
                # A copy, or a model that is trained on would change under the compiled one, in part.
                value = self.imported.parameters[name].copy()
            else:
                value = interpreter.global_value(name)
            values.append(native_array(value, element_type))
        return values

    def memory(self, parameters: Sequence[Array], executable: Executable) -> MemoryReport:
        """The bytes that a call takes, at the greatest sizes of open dims."""
        outputs = [output.type for output in self.imported.outputs if output.type is not None]
        sizes = [size_bytes(buffer_type_of(each)) for each in outputs]  # pyright: ignore[reportArgumentType]
        greatest = {
            name: known.minimum if known.maximum is None else known.maximum // known.multiple_of * known.multiple_of
            for name, known in self.symbols.items()
        }
        output_bytes = sum(size if isinstance(size, int) else size.evaluate(greatest) for size in sizes)
        arena_bytes = executable.arena_size(tuple(greatest.values()))
        return MemoryReport(arena_bytes, output_bytes, sum(value.nbytes for value in parameters))


class _Keeper(Instrument):
    """Takes along what the next pass removes."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering

    def before_pass(self, run: PassRun) -> None:
        if run.name == FLATTEN:
            self.lowering.take_globals()
        if run.name == TO_LLVM:
            self.lowering.take_parameters()


def _check_leads_down(pipeline: Pipeline | None) -> None:
    present = {step.name for step in pipeline.steps if not isinstance(step, Nested)} if pipeline is not None else None
    for name in (FLATTEN, TO_LLVM):
        if present is not None and name not in present:
            raise PipelineError(f"the pipeline has no pass '{name}': what it leaves cannot be made native code")


def native_array(value: Array, element_type: Attribute) -> Array:
    """An array as native code stores it: bf16 as its bits, else as it is."""
    return bf16_bits(value) if isinstance(element_type, BFloat16Type) else value


def _asked(step: Step, asked: Mapping[str, str]) -> Any:
    """The step, or the text that is asked for in its place."""
    return step if isinstance(step, Nested) else asked.get(step.name, step)


def _cpu_target() -> Any:
    from cuvil.targets.cpu import CpuTarget

    return CpuTarget.host()
