"""From an imported module to native code: the target's pipeline stage by stage, emission, loading, binding of weights.

What leaves the IR on the way is taken along here: initializers of globals before buffers are flat (they are evaluated
by the reference interpreter, once), the order of the external globals before they become positions in a table, and the
size of the arena.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import BFloat16Type, DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute

from cuvil.compiled_module import MemoryReport
from cuvil.dialects.fused import ParameterOp, buffer_type_of, size_bytes
from cuvil.dialects.tensor import GlobalOp
from cuvil.errors import InternalError, UserError
from cuvil.frontends.exported import ImportedModule
from cuvil.instrument.base import Instrument
from cuvil.ir_text import print_op
from cuvil.options import Options
from cuvil.pass_manager import PassManager
from cuvil.pipeline import TARGET_STAGES, Nested, Pipeline, Stage, Step
from cuvil.runtime.executable import Executable
from cuvil.semantics.arrays import Array, bf16_bits

LEVELS = {"cuvil_tensor": "normalize", "cuvil_fused": "fuse", "buffers": "memory", "arena": "memory"}
"""Other names of stages: the levels of the IR that they end in."""
LLVM_IR = "llvm-ir"
ASSEMBLY = "assembly"
_INPUTS = "cuvil.inputs"
_ARENA_BYTES = "cuvil_fused.arena_bytes"


@dataclass(frozen=True)
class NativeCode:
    """What the way down ends in."""

    executable: Executable
    memory: MemoryReport


def stage_names(target: str) -> list[str]:
    """The names of the stages of a target's pipeline."""
    return [stage.name for stage in TARGET_STAGES[target]]


def lower_to_native(
    imported: ImportedModule, target: str, options: Options, report: Callable[[str], None] = lambda stage: None
) -> NativeCode:
    """Native code of an imported module, ready to run; the module stays as it is. `report` hears of each stage."""
    from cuvil.codegen.jit import compile_objects, load_executable

    lowering = Lowering(imported, target, options)
    for stage in TARGET_STAGES[target]:
        report(stage.name)
        lowering.run(stage)
    report("emit")
    objects = compile_objects(lowering.module, _cpu_target())
    report("bind")
    parameters = lowering.bound_parameters()
    executable = load_executable(
        objects,
        input_count=sum(given.type is not None for given in imported.inputs),
        output_count=sum(output.type is not None for output in imported.outputs),
        arena_bytes=lowering.arena_bytes,
        parameters=parameters,
    )
    executable.set_threads(options.threads)
    return NativeCode(executable, lowering.memory(parameters))


@dataclass
class Lowering:
    """One module on its way down a target's pipeline."""

    imported: ImportedModule
    target: str
    options: Options
    module: ModuleOp = field(init=False)
    globals: ModuleOp | None = None
    """The tensor-level globals, initializers included, as they were before buffers became flat."""
    parameter_names: tuple[str, ...] = ()
    arena_bytes: int = 0

    def __post_init__(self) -> None:
        self.module = self.imported.module.clone()

    # -- passes ------------------------------------------------------------------------------------------------------

    def run(self, stage: Stage) -> None:
        """Run one stage, after taking along what it removes."""
        if stage.name == "loops":
            self._take_globals()
        if stage.name == "llvm":
            self._take_parameters()
        PassManager(self.pipeline(stage), self.instruments()).run(self.module)

    def pipeline(self, stage: Stage) -> Pipeline:
        """A stage's passes as the options want them."""
        pipeline = Pipeline.of(stage.passes)
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
        found: list[Instrument] = []
        if self.options.verify:
            from cuvil.instrument.verify import VerifyEach

            found.append(VerifyEach())
        if self.options.validate:
            from cuvil.instrument.validate import Validate

            found.append(Validate())
        return found

    def _take_globals(self) -> None:
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
        arena = host.attributes.get(_ARENA_BYTES)
        self.arena_bytes = arena.value.data if isinstance(arena, IntegerAttr) else 0
        host.attributes[_INPUTS] = IntegerAttr(sum(given.type is not None for given in self.imported.inputs), 64)

    def _take_parameters(self) -> None:
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
        lowering = Lowering(self.imported, self.target, self.options)
        if stage in (LLVM_IR, ASSEMBLY):
            for each in TARGET_STAGES[self.target]:
                lowering.run(each)
            return lowering._emitted(stage)
        lowering._run_to(stage)
        return print_op(lowering.module)

    def _run_to(self, name: str) -> None:
        stages = TARGET_STAGES[self.target]
        wanted = LEVELS.get(name, name)
        known = [stage.name for stage in stages]
        for stage in stages:
            passes = [each.name for each in self.pipeline(stage).passes()]
            if wanted not in known and wanted in passes:
                kept = ",".join(passes[: passes.index(wanted) + 1])
                self.run(Stage(stage.name, kept, stage.ensures))
                return
            self.run(stage)
            if stage.name == wanted:
                return
        raise UserError(f"unknown stage '{name}'; known: {', '.join([*known, *LEVELS, LLVM_IR, ASSEMBLY])}, any pass")

    def _emitted(self, form: str) -> str:
        from cuvil.codegen.llvm_text import module_to_text

        text = module_to_text(self.module, _cpu_target())
        if form == LLVM_IR:
            return text
        from cuvil.codegen.object_code import assembly_of

        return assembly_of(text, _cpu_target())

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
                value = self.imported.parameters[name]
            else:
                value = interpreter.global_value(name)
            values.append(native_array(value, element_type))
        return values

    def memory(self, parameters: Sequence[Array]) -> MemoryReport:
        """The bytes that a call takes."""
        outputs = [output.type for output in self.imported.outputs if output.type is not None]
        sizes = [size_bytes(buffer_type_of(each)) for each in outputs]  # pyright: ignore[reportArgumentType]
        output_bytes = sum(size for size in sizes if isinstance(size, int))
        return MemoryReport(self.arena_bytes, output_bytes, sum(value.nbytes for value in parameters))


def native_array(value: Array, element_type: Attribute) -> Array:
    """An array as native code stores it: bf16 as its bits, else as it is."""
    return bf16_bits(value) if isinstance(element_type, BFloat16Type) else value


def _asked(step: Step, asked: Mapping[str, str]) -> Any:
    """The step, or the text that is asked for in its place."""
    return step if isinstance(step, Nested) else asked.get(step.name, step)


def _cpu_target() -> Any:
    from cuvil.targets.cpu import CpuTarget

    return CpuTarget.host()
