"""Cuvil: an MLIR-style, multi-dialect compiler for PyTorch inference.

    compiled = cuvil.compile(model, (x,))       # a model to native code
    @cuvil.compile                              # a function, branches and loops on tensors included
    imported = cuvil.trace(model, (x,))         # a model to IR, to run pipelines on
    cuvil.PassManager("normalize,fuse").run(imported.module)

    cuvil.register_pass(MyPass)                 # a pass of one's own, by its name like any other
    pipeline = cuvil.Pipeline.of("cpu").insert_before("decompose", "my-pass")
    compiled = cuvil.compile(model, (x,), pipeline=pipeline)

Importing this package imports nothing else: what is named here is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuvil.arguments import ArgumentError as ArgumentError
    from cuvil.compiled_module import CompiledModule as CompiledModule
    from cuvil.compiler import compile as compile
    from cuvil.compiler import trace as trace
    from cuvil.custom_ops import register_op as register_op
    from cuvil.custom_ops import unregister_op as unregister_op
    from cuvil.dim import Dim as Dim
    from cuvil.errors import CuvilError as CuvilError
    from cuvil.frontends.exported import ImportedModule as ImportedModule
    from cuvil.frontends.exported import UnsupportedOpsError as UnsupportedOpsError
    from cuvil.frontends.exported import import_exported as import_exported
    from cuvil.frontends.source.function import CompiledFunction as CompiledFunction
    from cuvil.frontends.source.function import explain as explain
    from cuvil.ir_text import parse_module as parse_module
    from cuvil.ir_text import print_op as print_op
    from cuvil.options import Options as Options
    from cuvil.pass_manager import PassManager as PassManager
    from cuvil.pass_manager import run_on_text as run_on_text
    from cuvil.pipeline import Pipeline as Pipeline
    from cuvil.universe import make_context as make_context
    from cuvil.universe import register_pass as register_pass
    from cuvil.universe import unregister_pass as unregister_pass

_PLACES = {
    "ArgumentError": "cuvil.arguments",
    "CompiledFunction": "cuvil.frontends.source.function",
    "CompiledModule": "cuvil.compiled_module",
    "CuvilError": "cuvil.errors",
    "Dim": "cuvil.dim",
    "ImportedModule": "cuvil.frontends.exported",
    "Options": "cuvil.options",
    "PassManager": "cuvil.pass_manager",
    "Pipeline": "cuvil.pipeline",
    "UnsupportedOpsError": "cuvil.frontends.exported",
    "compile": "cuvil.compiler",
    "explain": "cuvil.frontends.source.function",
    "import_exported": "cuvil.frontends.exported",
    "make_context": "cuvil.universe",
    "parse_module": "cuvil.ir_text",
    "print_op": "cuvil.ir_text",
    "register_op": "cuvil.custom_ops",
    "register_pass": "cuvil.universe",
    "run_on_text": "cuvil.pass_manager",
    "trace": "cuvil.compiler",
    "unregister_op": "cuvil.custom_ops",
    "unregister_pass": "cuvil.universe",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'cuvil' has no attribute '{name}'")
    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
