"""Dims as `index` values: what computes an expression of the symbols, once a function, before everything else in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import IRDLOperation

from cuvil.errors import CuvilError
from cuvil.semantics.dims import Atom, Dim, DimExpr, Monomial, Quotient, ShapeEnvironment

_INDEX = IndexType()
_NO_OVERFLOW = arith.IntegerOverflowAttr("none")


@dataclass
class DimValues:
    """The values of dims in one function; what computes them waits until `insert_at_start`."""

    symbols: Mapping[str, SSAValue]
    environment: ShapeEnvironment
    _block: Block = field(default_factory=Block)
    _values: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])

    def value(self, dim: Dim) -> SSAValue:
        """The dim as an `index`. Raises `CuvilError` where it has a symbol whose value is not known."""
        if dim not in self._values:
            self._values[dim] = self._number(dim) if isinstance(dim, int) else self._sum(dim)
        return self._values[dim]

    def at_least_one(self, dim: DimExpr) -> SSAValue:
        """max(dim, 1) as an `index`."""
        key = ("at least one", dim)
        if key not in self._values:
            self._values[key] = self._op(arith.MaxSIOp, self.value(dim), self.value(1))
        return self._values[key]

    def insert_at_start(self, block: Block) -> None:
        """Move what computes the dims that something uses to the beginning of `block`."""
        for op in reversed(list(self._block.ops)):
            used = any(result.first_use is not None for result in op.results)
            op.detach()
            if not used:
                op.erase()
            elif block.first_op is None:
                block.add_op(op)
            else:
                block.insert_op_before(op, block.first_op)

    def _sum(self, dim: DimExpr) -> SSAValue:
        total: SSAValue | None = None
        for monomial, factor in dim.terms:
            term = self._term(monomial, abs(factor))
            if total is None:
                total = term if factor > 0 else self._op(arith.SubiOp, self.value(0), term)
            else:
                total = self._op(arith.AddiOp if factor > 0 else arith.SubiOp, total, term)
        assert total is not None, "a dim expression has a term"
        return total

    def _term(self, monomial: Monomial, factor: int) -> SSAValue:
        if not monomial:
            return self.value(factor)
        product = self._product(monomial)
        return product if factor == 1 else self._op(arith.MuliOp, product, self.value(factor))

    def _product(self, monomial: Monomial) -> SSAValue:
        *front, last = monomial
        if not front:
            return self._atom(last)
        key = ("product", monomial)
        if key not in self._values:
            self._values[key] = self._op(arith.MuliOp, self._product(tuple(front)), self._atom(last))
        return self._values[key]

    def _atom(self, atom: Atom) -> SSAValue:
        if isinstance(atom, Quotient):
            return self._quotient(atom)
        if atom not in self.symbols:
            raise CuvilError(f"the size of symbolic dim {atom} is not known here: no operand of the function tells it")
        return self.symbols[atom]

    def _quotient(self, atom: Quotient) -> SSAValue:
        if atom in self._values:
            return self._values[atom]
        dividend, divisor = self.value(atom.expression), self.value(atom.divisor)
        low, _ = self.environment.bounds(atom.expression)
        is_floor = atom.operator == "floordiv"
        if low is not None and low >= 0:
            made = self._op(arith.DivUIOp if is_floor else arith.RemUIOp, dividend, divisor)
        else:
            made = self._op(arith.FloorDivSIOp, dividend, divisor)
            if not is_floor:
                made = self._op(arith.SubiOp, dividend, self._op(arith.MuliOp, made, divisor))
        self._values[atom] = made
        return made

    def _number(self, number: int) -> SSAValue:
        return self._insert(arith.ConstantOp, (), {"value": IntegerAttr(number, _INDEX)})

    def _op(self, op_class: type[IRDLOperation], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        wraps = op_class in (arith.AddiOp, arith.SubiOp, arith.MuliOp)
        return self._insert(op_class, (lhs, rhs), {"overflowFlags": _NO_OVERFLOW} if wraps else {})

    def _insert(
        self, op_class: type[IRDLOperation], operands: tuple[SSAValue, ...], properties: dict[str, Attribute]
    ) -> SSAValue:
        made = op_class.create(operands=operands, result_types=(_INDEX,), properties=properties)
        self._block.add_op(made)
        return made.results[0]
