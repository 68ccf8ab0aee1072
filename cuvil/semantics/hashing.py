"""Semantic hashes: equal hashes mean equal meaning, on every back end.

An operation's hash covers its kind, attributes, result types, regions and operands' hashes; a function's covers what it
returns and what it does to memory. So the hash does not depend on the names of values, functions and kernels, on
locations, on the order of operations that do not depend on each other, on operations that nothing uses, or on the
order of operands where the function commutes. It does depend on schedules, since they are attributes, and on the names
of external globals and of symbolic dims, which are what values are bound to.

Hashes are the same in every process (BLAKE2b of canonical text) and take linear time: each operation is hashed once.
A value of a weight is no part of a hash: a cache that depends on it adds the array's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from cuvil.dialects.tensor import CustomOp, ElementwiseOp, GlobalOp

DIGEST_BYTES = 16

# Names that only people read: two kernels or functions that differ in them alone mean the same.
_NAMES_WITHOUT_MEANING = frozenset({"kernel_name", "sym_name", "sym_visibility"})


def semantic_hash(module: ModuleOp) -> str:
    """The hash of a module, in hexadecimal: of its functions and globals, whatever their order in the text."""
    return SemanticHasher(module).module_hash()


class SemanticHasher:
    """Hashes of a module's parts. The module must not change while this object is used."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self._attributes: dict[Attribute, bytes] = {}
        self._values: dict[SSAValue, bytes] = {}
        self._operations: dict[Operation, bytes] = {}
        self._symbols = {
            name.data: op for op in module.ops if isinstance(name := op.properties.get("sym_name"), StringAttr)
        }
        self._symbol_hashes: dict[str, bytes] = {}

    def module_hash(self) -> str:
        """The hash of the whole module."""
        parts = [_digest(name.encode(), self._symbol(name)) for name in self._symbols]
        others = [self._operation(op, 0, b"") for op in self.module.ops if "sym_name" not in op.properties]
        return _digest(b"module", *sorted(parts), *others).hex()

    def function_hash(self, name: str) -> str:
        """The hash of a function; its own name is no part of it. Raises `KeyError` if there is no such symbol."""
        return self._symbol(name).hex()

    def operation_hash(self, op: Operation) -> str:
        """The hash of an operation within the module: equal ones compute the same in the same place."""
        if op not in self._operations:
            top = op
            while (parent := top.parent_op()) is not None and parent is not self.module:
                top = parent
            name = top.properties.get("sym_name")
            if isinstance(name, StringAttr):
                self._symbol(name.data)
            else:
                self._operation(top, 0, b"")
        return self._operations[op].hex()

    # -- symbols -----------------------------------------------------------------------------------------------------

    def _symbol(self, name: str) -> bytes:
        """What a symbol stands for: a function by what it does, a computed global by how, an external one by name."""
        found = self._symbol_hashes.get(name)
        if found is not None:
            return found
        op = self._symbols[name]
        # A function that calls itself is, within itself, known by its name.
        self._symbol_hashes[name] = _digest(b"recursive", name.encode())
        is_external = not any(region.blocks for region in op.regions)
        result = _digest(b"symbol", name.encode() if is_external else b"", self._operation(op, 0, b""))
        self._symbol_hashes[name] = result
        return result

    def _reference(self, symbol: SymbolRefAttr) -> bytes:
        name = symbol.string_value()
        return self._symbol(name) if name in self._symbols else _digest(b"unknown", name.encode())

    # -- operations --------------------------------------------------------------------------------------------------

    def _operation(self, op: Operation, depth: int, order: bytes) -> bytes:
        """Hash `op` and its results. `order` tells apart operations whose place in the program matters."""
        operands = [self._value(operand) for operand in op.operands]
        if isinstance(op, ElementwiseOp) and op.function.commutative:
            operands.sort()
        inner = [self._region(region, depth + 1) for region in op.regions]
        result = _digest(
            op.name.encode(),
            b"operands",
            *operands,
            b"attributes",
            *self._named(op),
            b"types",
            *(self._attribute(value.type) for value in op.results),
            b"regions",
            *inner,
            order,
        )
        self._operations[op] = result
        for value in op.results:
            self._values[value] = _digest(result, b"%d" % value.index)
        return result

    def _named(self, op: Operation) -> Iterable[bytes]:
        """Attributes in the order of their names; symbols by what they stand for."""
        is_declaration = isinstance(op, FuncOp | GlobalOp)
        for name, attribute in sorted({**op.attributes, **op.properties}.items()):
            if name in _NAMES_WITHOUT_MEANING and (is_declaration or name == "kernel_name"):
                continue
            is_use = isinstance(attribute, SymbolRefAttr) and (isinstance(op, CallOp) or name == "symbol")
            yield name.encode()
            if name == "op" and isinstance(op, CustomOp):
                # Another registration under this name may compute something else.
                yield op.registered.fingerprint().encode()
            yield self._reference(attribute) if is_use else self._attribute(attribute)  # pyright: ignore[reportArgumentType]

    def _region(self, region: Region, depth: int) -> bytes:
        numbers = {block: number for number, block in enumerate(region.blocks)}
        for block, number in numbers.items():
            for argument in block.args:
                kind = self._attribute(argument.type)
                self._values[argument] = _digest(b"argument", b"%d %d %d" % (depth, number, argument.index), kind)
        return _digest(b"region", *(self._block(block, depth, numbers) for block in numbers))

    def _block(self, block: Block, depth: int, numbers: dict[Block, int]) -> bytes:
        """Of a block counts what has effects, in order, and its terminator; the rest through what uses it."""
        counted = [self._attribute(argument.type) for argument in block.args]
        for op in block.ops:
            if op.next_op is not None and is_side_effect_free(op):
                self._operation(op, depth, b"")
                continue
            successors = b" ".join(b"%d" % numbers[successor] for successor in op.successors)
            place = b"%d.%d: %s" % (numbers[block], len(counted), successors)
            counted.append(self._operation(op, depth, place))
        return _digest(b"block", *counted)

    def _value(self, value: SSAValue) -> bytes:
        found = self._values.get(value)
        if found is None:
            # Used before its definition was met, as a loop of blocks may do: known by its place.
            owner = value.owner
            number = value.index if isinstance(value, BlockArgument) else list(owner.results).index(value)  # pyright: ignore
            place = _place_of(owner)
            found = self._values[value] = _digest(b"forward", place, b"%d" % number)
        return found

    def _attribute(self, attribute: Attribute) -> bytes:
        found = self._attributes.get(attribute)
        if found is None:
            if isinstance(attribute, DenseIntOrFPElementsAttr):
                found = _digest(b"dense", str(attribute.type).encode(), attribute.data.data)
            else:
                found = _digest(str(attribute).encode())
            self._attributes[attribute] = found
        return found


def _place_of(owner: Operation | Block) -> bytes:
    block = owner if isinstance(owner, Block) else owner.parent
    if block is None or block.parent is None:
        return b"detached"
    number = next(number for number, other in enumerate(block.parent.blocks) if other is block)
    position = -1 if owner is block else next(place for place, op in enumerate(block.ops) if op is owner)
    return b"%d.%d" % (number, position)


def _digest(*parts: bytes) -> bytes:
    """The hash of a sequence of byte strings; no two sequences give the same input to the hash function."""
    state = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()
