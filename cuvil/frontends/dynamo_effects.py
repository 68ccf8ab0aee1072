"""Graphs of dynamo that change their inputs, or give them or views of them back: whole, by `cuvil.write_back`.

Dynamo guards sizes and strides of the inputs, and that two of them are one tensor; that they overlap otherwise it
leaves to the backend, so calls look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from cuvil.aliasing import Held, overlaps
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_mutation import needs_functionalization
from cuvil.frontends.exported import ImportedModule
from cuvil.frontends.exported_control import has_batching
from cuvil.frontends.exported_mutation import Sharing, SharingImport, needs_memory, output_nodes
from cuvil.frontends.graph_memory import is_dense, memory_of, tensor_of
from cuvil.write_back import Effects, inputs_of, write_back


class BoundWeightError(UnsupportedError):
    """Weights that were to be part of the code are changed by the graph, or are results of it; `names` are theirs."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"weights are changed or given back: {', '.join(names)}")
        self.names = tuple(names)


def import_with_effects(program: ExportedProgram) -> ImportedModule | None:
    """A graph that changes or gives back what it is given, or has results that are not dense; None of any other.

    Raises `BoundWeightError` where a weight is among these.
    """
    graphs = [module.graph for module in program.graph_module.modules() if isinstance(module, GraphModule)]
    inner = [graph for graph in graphs if graph is not program.graph]
    if has_batching(program.graph) or any(needs_functionalization(graph) or has_batching(graph) for graph in inner):
        return None
    sharing = Sharing.of(program, {})
    results = [node for node in output_nodes(program.graph) if isinstance(node, Node) and tensor_of(node) is not None]
    if not sharing.is_sensitive and not needs_memory(program.graph) and all(map(is_dense, results)):
        return None
    shown = {memory_of(tensor) for node in results if (tensor := tensor_of(node)) is not None} | sharing.written
    outer = [
        str(spec.target)
        for spec, node in zip(program.graph_signature.input_specs, sharing.placeholders, strict=True)
        if spec.kind != InputKind.USER_INPUT and (tensor := tensor_of(node)) is not None and memory_of(tensor) in shown
    ]
    if outer:
        raise BoundWeightError(outer)
    return SharingImport(program, "main", sharing=sharing, is_strided=True).run()


class EffectfulRun:
    """Calls native code with effects."""

    def __init__(self, effects: Effects, run: Callable[[Sequence[Tensor]], list[Tensor]], tree: Any) -> None:
        self.effects = effects
        self._run = run
        self._tree = tree
        self._held = Held(effects.frozen)
        self.expected: Any = ()

    def expect(self, tensors: Sequence[Tensor]) -> EffectfulRun:
        """The code was made for tensors that overlap as these do."""
        self.expected = overlaps(tensors, self.effects.written, self._held)
        return self

    def fits(self, tensors: Sequence[Tensor]) -> bool:
        """Whether the code is for tensors that overlap as these do."""
        written = self.effects.written
        return not written or overlaps(tensors, written, self._held) == self.expected

    def __call__(self, tensors: Sequence[Tensor]) -> Any:
        results = write_back(self.effects, tensors, self._run(inputs_of(self.effects, tensors)))
        return pytree.tree_unflatten(results, self._tree)


__all__ = ["BoundWeightError", "EffectfulRun", "import_with_effects"]
