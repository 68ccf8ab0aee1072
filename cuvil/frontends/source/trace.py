"""Torch ops on fake tensors become `cuvil_tensor` ops as they happen.

A function that is read works on fake tensors (a shape, a dtype, no elements). Every aten op on them is seen by a
dispatch mode: PyTorch gives the type of the result, the tables of the `aten_*` families give the IR. So whatever is
written in torch's own Python, `torch.nn` modules included, just runs.

Memory is a map: each fake tensor has the value that it was made with; an in-place op gives its memory a new value,
and other tensors on that memory are read from it from then on. What a region changes is therefore plain data that
branches can be compared by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from cuvil.dialects.tensor import GlobalOp, ParameterOp
from cuvil.errors import UnsupportedError
from cuvil.frontends.aten_builder import Deferred, GraphBuilder
from cuvil.frontends.aten_graph import GraphImporter
from cuvil.frontends.aten_running import updated_statistics
from cuvil.frontends.aten_schema import functional_op
from cuvil.frontends.aten_types import array_of_tensor, element_type_of, shape_of_value, type_of_value
from cuvil.frontends.exported import LARGEST_CONSTANT, constant_of
from cuvil.frontends.graph_memory import RESHAPING, flat_owner, memory_of
from cuvil.frontends.source.choices import Choices
from cuvil.frontends.source.layouts import REMEDY, Layouts, shares
from cuvil.frontends.strided import Geometry, read_view, write_view

_MODES: Any = _python_dispatch  # what works on the stack of modes has no public name

_NORMS = ("aten.native_batch_norm.default", "aten._native_batch_norm_legit.default")

_CPU_ATTENTION = "aten._scaled_dot_product_flash_attention_for_cpu.default"


@dataclass
class Memory:
    """The values of tensors at one point of the program; copied where control flow parts."""

    values: dict[int, tuple[int, SSAValue]] = field(default_factory=dict[int, "tuple[int, SSAValue]"])
    """A tensor's value, and the version of its memory that it is of."""
    bases: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """The value of a memory that was written to, as the tensor that it was made for."""
    versions: dict[int, int] = field(default_factory=dict[int, int])
    tensors: dict[int, FakeTensor] = field(default_factory=dict[int, FakeTensor])
    """The tensors that there are."""
    synced: dict[int, tuple[int, ...]] = field(default_factory=dict[int, "tuple[int, ...]"])
    """Of memories with alternatives, the versions of those when they were read last."""

    def copy(self) -> Memory:
        """The same values, apart."""
        return Memory(dict(self.values), dict(self.bases), dict(self.versions), dict(self.tensors), dict(self.synced))


class OutsideWrittenError(UnsupportedError):
    """A tensor that the function finds outside is changed: read it again with that one given at each call."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__("a tensor from outside the function is changed in place")
        self.tensor = tensor


class Tracer(TorchDispatchMode):
    """Emits what happens while it is entered; `builder.block` is where, `builder.location` is whose source line."""

    def __init__(self) -> None:
        super().__init__()
        self.fakes = FakeTensorMode(allow_non_fake_inputs=True)
        self.entry = Block()
        self._prologue: Operation | None = None
        self.builder = GraphBuilder(self.entry, UNKNOWN_LOC)
        self.memory = Memory()
        self.globals: dict[str, GlobalOp] = {}
        self.parameters: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        """Names of the user's weights by identity, for their symbols."""
        self._importer = GraphImporter(self.builder, lambda tensor: self.held(tensor))
        self._weights: dict[Any, SSAValue] = {}
        self._held: dict[int, tuple[Tensor, FakeTensor]] = {}
        self.held_memories: set[int] = set()
        self._static: dict[int, tuple[int, SSAValue]] = {}
        self._alive: list[Any] = []
        self._owners: dict[int, FakeTensor] = {}
        self._geometry: dict[int, Geometry] = {}
        """Of each owner, as it was made."""
        self.choices = Choices(self)
        self.layouts = Layouts()
        self.given: dict[int, FakeTensor] = {}
        """The memories that are given at each call, and the tensor that is the function's input."""
        self.outside: dict[int, Tensor] = {}
        """The memories of the user's tensors that the function finds, and that are not given."""
        self._next_version = 0
        self._shared: dict[int, set[int]] = {}
        """Memories of merged tensors, and of those whose memory they may lie in."""
        self.reached: Callable[[], set[int]] = set
        """The memories that the function's variables reach now."""

    # -- tensors -----------------------------------------------------------------------------------------------------

    def argument(self, tensor: Tensor, name: str) -> FakeTensor:
        """A tensor that is given at each call, with the strides of the example."""
        with _MODES._disable_current_modes(), self.fakes:
            fake = cast(FakeTensor, torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype))
        self.bind(fake, self._input(fake, name))
        self.given[memory_of(fake)] = fake
        return fake

    def shared_arguments(self, tensors: Sequence[Tensor], name: str) -> list[FakeTensor]:
        """Tensors on one memory that are given at each call: views of one input, all that they reach of the memory."""
        span = flat_owner(tensors)
        with _MODES._disable_current_modes(), self.fakes:
            base = cast(FakeTensor, torch.empty(span.count, dtype=span.dtype))
            views = [
                base.as_strided(tensor.shape, tensor.stride(), int(tensor.storage_offset()) - span.offset)
                for tensor in tensors
            ]
        self.bind(base, self._input(base, name))
        self._alive.extend(views)
        self.given[memory_of(base)] = base
        return cast("list[FakeTensor]", views)

    def _input(self, fake: FakeTensor, name: str) -> SSAValue:
        value = self.entry.insert_arg(type_of_value(fake), len(self.entry.args))
        value.name_hint = name if name.isidentifier() else None
        return value

    def take(self, tensor: Tensor, fake: FakeTensor) -> None:
        """Say that a tensor that the function finds is one that is given at each call."""
        self._held[id(tensor)] = (tensor, fake)

    def fresh(self, like: Tensor, value: SSAValue) -> FakeTensor:
        """A new tensor of the type of another one, with a value."""
        fake = self.unbound(like)
        self.bind(fake, value)
        return fake

    def fake_of(self, tensor: Tensor) -> FakeTensor:
        """The fake tensor of one that the function finds: a weight, a constant."""
        if isinstance(tensor, FakeTensor):
            return tensor
        known = self._held.get(id(tensor))
        if known is not None:
            return known[1]
        element_type_of(tensor.dtype)
        with _MODES._disable_current_modes(), self.fakes:
            fake = cast(FakeTensor, torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype))
        self._held[id(tensor)] = (tensor, fake)
        self._own(fake)
        self.held_memories.add(memory_of(fake))
        self._static[id(fake)] = (0, self.held(tensor))
        if id(tensor) in self.names:
            self.outside[memory_of(fake)] = tensor
        return fake

    def found(self, tensor: Tensor, name: str) -> Tensor:
        """A tensor that the function finds outside, by its name there."""
        if not isinstance(tensor, FakeTensor):
            self.names.setdefault(id(tensor), name)
            return self.fake_of(tensor)
        return tensor

    def scratch(self) -> Block:
        """A block to be thrown away."""
        return Block()

    def value_of(self, tensor: Tensor) -> SSAValue:
        """The value of a tensor as its memory is now."""
        fake = self.fake_of(tensor)
        memory = memory_of(fake)
        self.choices.refresh(memory)
        known = self.memory.values.get(id(fake)) or self._static.get(id(fake))
        if known is None and memory not in self._owners:
            raise UnsupportedError("this tensor is not one that the function's operations gave")
        if known is not None and known[0] == self.memory.versions.get(memory, 0):
            return known[1]
        owner = self._owners[memory]
        base = self.own_value(memory)
        value = read_view(self.builder, self._geometry[memory], base, Geometry.of(fake), self.held)
        if fake is not owner:
            self.memory.values[id(fake)] = (self.memory.versions.get(memory, 0), value)
        return value

    def written(self, fake: FakeTensor, value: SSAValue) -> None:
        """An in-place op gave a tensor a new value."""
        memory = memory_of(fake)
        self.check_unshared(memory)
        if memory in self.outside:
            raise OutsideWrittenError(self.outside[memory])
        self.choices.refresh(memory)
        base = write_view(
            self.builder, self._geometry[memory], self.own_value(memory), Geometry.of(fake), value, self.held
        )
        self.rebase(memory, base)
        self.memory.values[id(fake)] = (self._next_version, value)
        self.choices.spread(memory)

    def own_value(self, memory: int) -> SSAValue:
        """The value of a memory as it was written or made last, as the tensor that it was made for."""
        owner = self._owners[memory]
        if memory in self.memory.bases:
            return self.memory.bases[memory]
        known = self.memory.values.get(id(owner)) or self._static.get(id(owner))
        if known is None:
            raise UnsupportedError("this tensor is not one that the function's operations gave")
        return known[1]

    def owner_of(self, memory: int) -> FakeTensor:
        """The tensor that a memory was made for."""
        return self._owners[memory]

    def may_share(self, fake: Tensor, others: Iterable[Tensor], is_copied: bool = False) -> None:
        """A merged tensor may lie in the memory of one of these, or of what it is copied from."""
        sources: set[int] = set()
        for each in others:
            fakes = [self.fake_of(each)]
            while fakes:
                source = fakes.pop()
                sources.add(memory_of(source))
                fakes += [one.target for one in self.choices.of(source)] if is_copied else []
        self._shared.setdefault(memory_of(fake), set()).update(sources)

    def check_unshared(self, memory: int) -> None:
        """Refuse a change in place that another tensor may show or not, depending on the way that was taken."""
        mine = self._sources(memory)
        reached = self.reached() | set(self.given) if self._shared else set[int]()
        theirs = {
            other
            for other in reached - {memory}
            if other in mine or memory in (sources := self._sources(other)) or mine & sources
        }
        if theirs:
            raise UnsupportedError(
                "this tensor is changed in place, and after a branch or loop it may share memory with another one; "
                "write x = x + y, or work on a clone()"
                + ("; if strides differ by the way that was taken, call .contiguous() on each" if self.layouts else "")
            )

    def _sources(self, memory: int) -> set[int]:
        found, waiting = set[int](), [memory]
        while waiting:
            for source in self._shared.get(waiting.pop(), ()):
                if source not in found:
                    found.add(source)
                    waiting.append(source)
        return found - {memory}

    def known_memories(self) -> set[int]:
        """The memories that there are."""
        return {memory_of(fake) for fake in self.memory.tensors.values()} | self.held_memories

    def base_of(self, memory: int) -> SSAValue:
        """The value of a memory, as the tensor that it was made for."""
        return self.value_of(self._owners[memory])

    def rebase(self, memory: int, value: SSAValue) -> None:
        """Give a memory a value: what a branch or a loop left."""
        self._next_version += 1
        self.memory.versions[memory] = self._next_version
        self.memory.bases[memory] = value
        self.memory.values[id(self._owners[memory])] = (self._next_version, value)

    def unbound(self, like: Tensor) -> FakeTensor:
        """A new tensor of the type of another one, whose value `bind` will tell."""
        # Beneath this mode, or the fake mode's own work would be seen as the function's.
        with _MODES._disable_current_modes(), self.fakes:
            return cast(FakeTensor, torch.empty(like.shape, dtype=like.dtype))

    def bind(self, fake: FakeTensor, value: SSAValue) -> None:
        """Say what a tensor's value is."""
        memory = memory_of(fake)
        self._alive.append(fake)
        self._own(fake)
        self.memory.tensors[id(fake)] = fake
        self.memory.values[id(fake)] = (self.memory.versions.get(memory, 0), value)

    def _own(self, fake: FakeTensor) -> None:
        memory = memory_of(fake)
        if memory not in self._owners:
            self._owners[memory] = fake
            self._geometry[memory] = Geometry.of(fake)

    def noticing(self) -> Any:
        """A context in which operations are seen, entered or not before."""
        return nullcontext() if self in _MODES._get_current_dispatch_mode_stack() else self

    # -- operations --------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if str(func).startswith(("prim.device", "aten.lift_fresh", "aten.detach.")):
            return self.fake_of(args[0]) if str(func).startswith("aten.lift") else self._meta(func, args, kwargs)
        if str(func) in ("aten._local_scalar_dense.default", "aten.is_nonzero.default"):
            raise UnsupportedError(
                "code that is not read (of a library, or without source) needs the value of a tensor here, for a size, "
                "an index or a condition; write the branch in a function of your own, or use torch.where"
            )
        args, kwargs = tree_map_only(Tensor, self.fake_of, (args, kwargs))
        if str(func) in _NORMS and args[5] and args[3] is not None:
            return self._normalized(func, args, kwargs)
        return self._in_place(func, args, kwargs) if func._schema.is_mutable else self._made(func, args, kwargs)

    def _made(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The result of an op that makes new tensors."""
        results = self._meta(func, args, kwargs)
        if self.layouts.are_several((args, kwargs)):
            results = self._of_several_layouts(func, args, kwargs, results)
        if str(func) == _CPU_ATTENTION:
            # The CPU's kernel is chosen before any mode sees the op; its first result is that of the op itself.
            func, args, kwargs = _whole_attention(args, kwargs)
            self.bind(results[0], self._emitted(func, args, kwargs, results[0]))
            return results
        inputs = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]
        if self.builder.block is not self.entry and inputs and all(self._is_static(each) for each in inputs):
            # Of weights alone (a transpose): once, before all branches and loops, where it can be done ahead.
            values = self.in_entry(lambda: self._emitted(func, args, kwargs, results))
            self._bind_results(results, values, self._bind_static)
            return results
        values = self._emitted(func, args, kwargs, results)
        self._bind_results(results, values, self.bind)
        return results

    def _of_several_layouts(self, func: Any, args: Any, kwargs: Any, results: Any) -> Any:
        """The results of an op on tensors of several layouts: with theirs, and apart from what they may be views of."""
        if "as_strided" in str(func):
            raise UnsupportedError(REMEDY)
        ways = self.layouts.results(args, kwargs, lambda given, named: self._meta(func, given, named))
        inputs = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, FakeTensor)]
        leaves, tree = tree_flatten(results)
        for place, leaf in enumerate(leaves):
            if not isinstance(leaf, FakeTensor):
                continue
            others = [(given, None if now is None else tree_flatten(now)[0][place]) for given, now in ways]
            is_view = shares(leaf, inputs)
            # A view that a layout does not allow is a reshape's, which copies; a copy in rows may be one of those.
            may_differ = kwargs.get("memory_format") not in (None, torch.preserve_format) or any(
                (other is not None and shares(other, given)) != is_view for given, other in others
            )
            new = self.unbound(leaf) if may_differ and is_view else leaf
            self.layouts.add(new, [leaf, *(other for _, other in others if isinstance(other, FakeTensor))])
            if may_differ:
                self.layouts.add(new, [self.unbound(leaf), *(each for each in inputs if each.shape == leaf.shape)])
                self.may_share(new, inputs, is_copied=True)
            leaves[place] = new
        return tree_unflatten(leaves, tree)

    def check_view(self, tensor: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuse a view that eager refuses for one of a tensor's layouts."""
        if args and isinstance(args[0], Tensor):
            args = (args[0].shape,)
        with _MODES._disable_current_modes(), self.fakes:
            for each in self.layouts.of(tensor):
                try:
                    each.view(*args, **kwargs)
                except (RuntimeError, ValueError):
                    raise UnsupportedError(f"view: {REMEDY}, or use reshape") from None

    def contiguous(self, tensor: FakeTensor) -> FakeTensor:
        """`tensor.contiguous()`, which for some of its layouts is the tensor itself."""
        known = [each.is_contiguous() for each in (tensor, *self.layouts.of(tensor))]
        if all(known):
            return tensor
        copy = self.fresh(tensor, self.value_of(tensor))
        if any(known):
            self.may_share(copy, [tensor], is_copied=True)
        return copy

    def _is_static(self, tensor: Tensor) -> bool:
        memory = memory_of(tensor)
        return id(tensor) in self._static and self.memory.versions.get(memory, 0) == 0

    def _bind_static(self, fake: FakeTensor, value: SSAValue) -> None:
        self._alive.append(fake)
        self._own(fake)
        self.held_memories.add(memory_of(fake))
        self._static[id(fake)] = (0, value)

    def _meta(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The type of the result; a detached tensor is the same one."""
        if str(func).startswith("aten.detach.") and memory_of(self.fake_of(args[0])) not in self.given:
            return self.fake_of(args[0])
        with self.fakes:
            return func(*args, **kwargs)

    def _in_place(self, func: Any, args: Any, kwargs: Any) -> Any:
        name = str(func).removeprefix("aten.").partition(".")[0]
        out = kwargs.get("out")
        if isinstance(out, FakeTensor):
            return self._into(func, args, kwargs, out)
        functional = functional_op(func)
        if functional is func or not isinstance(args[0], FakeTensor):
            raise UnsupportedError(f"{func} writes into its arguments; use the form that returns a new tensor")
        if f"aten.{name}" in RESHAPING:
            raise UnsupportedError(f"{name} changes the shape of a tensor in place; use the form that returns a view")
        self._meta(func, args, kwargs)  # refuses what eager refuses
        self.written(args[0], self._emitted(functional, args, kwargs, args[0]))
        return args[0]

    def _into(self, func: Any, args: Any, kwargs: Any, out: FakeTensor) -> Any:
        """An op that puts its result into a tensor that it is given."""
        before = Geometry.of(out)
        self._meta(func, args, kwargs)  # refuses what eager refuses
        if not before.is_same(Geometry.of(out)):
            raise UnsupportedError("out= is of another shape than the result; give it a tensor of that shape")
        functional = functional_op(func)
        if functional is func:
            raise UnsupportedError(f"{func} has no form without out=")
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        self.written(out, self._emitted(functional, args, rest, out))
        return out

    def _normalized(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Batch norm in training mode: by the batch's statistics, which move those that are kept."""
        results = self._meta(func, args, kwargs)
        x, weight, bias, mean, variance, _, momentum, eps = args[:8]
        old = [None if each is None else self.value_of(each) for each in (mean, variance)]
        moved = updated_statistics(self.builder, self.value_of(x), old[0], old[1], momentum)
        whole = torch.ops.aten.batch_norm.default
        value = self._emitted(whole, (x, weight, bias, None, None, True, momentum, eps, False), {}, results[0])
        self.bind(results[0], value)
        for fake, new in zip((mean, variance), moved, strict=True):
            if fake is not None:
                self.written(fake, new)
        return results

    def _emitted(self, func: Any, args: Any, kwargs: Any, results: Any) -> Any:
        """The value, or values, of an op on fake tensors."""
        graph = Graph()
        leaves, tree = tree_flatten((args, kwargs))
        values: list[SSAValue] = []
        for number, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor):
                node = graph.placeholder(f"input{number}")
                node.meta["val"] = leaf
                values.append(self.value_of(leaf))
                leaves[number] = node
        arguments, options = tree_unflatten(leaves, tree)
        node = graph.call_function(func, tuple(arguments), options)
        node.meta["val"] = results
        graph.output([node])
        importer = self._importer
        importer.problems.clear()
        (value,) = importer.run(cast(Any, SimpleNamespace(graph=graph)), values, self.builder.location)
        if importer.problems:
            problem = importer.problems[0]
            raise UnsupportedError(f"{problem.op}: {problem.reason}")
        return value

    def _bind_results(self, results: Any, values: Any, bind: Callable[[FakeTensor, SSAValue], None]) -> None:
        if isinstance(results, FakeTensor):
            bind(results, values)
        elif isinstance(results, tuple | list):
            for result, value in zip(results, values, strict=True):
                if isinstance(value, Deferred):
                    value = self._built(value, result)
                if isinstance(result, FakeTensor) and value is not NotImplemented:
                    bind(result, value)

    def _built(self, deferred: Deferred, result: Tensor) -> Any:
        """A result that is left until something reads it, built at once: reads are not seen coming, `dce` drops it."""
        self.builder.result_shapes, self.builder.result_dtypes = (shape_of_value(result),), (result.dtype,)
        try:
            return self.builder.cast(deferred.build(), element_type_of(result.dtype))
        except UnsupportedError:
            return NotImplemented

    # -- what the function holds -------------------------------------------------------------------------------------

    def held(self, tensor: Tensor) -> SSAValue:
        """A tensor's elements: in the text if few and without a name, else a global."""
        with _MODES._disable_current_modes():
            return self._held_value(tensor)

    def _held_value(self, tensor: Tensor) -> SSAValue:
        name = self.names.get(id(tensor))
        if name is None and tensor.numel() <= LARGEST_CONSTANT:
            return self.in_entry(lambda: self.builder.value(constant_of(tensor)))
        key = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
        value = self._weights.get(key) if tensor.numel() else None
        if value is None:
            symbol = self._unused(name or "constant")
            self.globals[symbol] = GlobalOp(symbol, type_of_value(tensor))
            self.parameters[symbol] = array_of_tensor(tensor)
            value = self.in_entry(lambda: self.builder.value(ParameterOp(symbol, type_of_value(tensor))))
            self._weights[key] = value
        return value

    def in_entry(self, emit: Callable[[], SSAValue]) -> SSAValue:
        """What is emitted, at the function's start, where every region sees it."""
        here, self.builder.block = self.builder.block, Block()
        try:
            value = emit()
            operations = list(self.builder.block.ops)
        finally:
            self.builder.block = here
        for op in operations:
            op.detach()
        if operations:
            if self._prologue is not None:
                self.entry.insert_ops_after(operations, self._prologue)
            elif self.entry.first_op is not None:
                self.entry.insert_ops_before(operations, self.entry.first_op)
            else:
                self.entry.add_ops(operations)
            self._prologue = operations[-1]
        return value

    def at(self, location: LocationAttr) -> None:
        """What is emitted from now on comes from this place."""
        self.builder.location = location

    def _unused(self, name: str) -> str:
        found, number = name, 0
        while found in self.globals or found == "main":
            number += 1
            found = f"{name}_{number}"
        return found


def _whole_attention(args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The call of scaled_dot_product_attention that became one of the CPU's kernel."""
    query, key, value, *rest = args
    dropout, is_causal = (*rest, *(0.0, False)[len(rest) :])
    options = {"attn_mask": kwargs.get("attn_mask"), "dropout_p": dropout, "is_causal": is_causal}
    whole = torch.ops.aten.scaled_dot_product_attention.default
    return whole, (query, key, value), {**options, "scale": kwargs.get("scale")}
