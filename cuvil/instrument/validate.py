"""Translation validation: run the module before and after every pass on the same random inputs and compare.

A pass states how far its results may move: the class attribute `tolerance: ClassVar[float]` is a relative norm; without
it results must be bit-identical. NaN equals NaN, and NaNs and infinities must stay where they are.

The reference is `cuvil.semantics.execution.execute`, which takes a module at any level: the interpreter's meaning, or
native code where the IR is lowered that far. A researcher may pass another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from cuvil.errors import CuvilError, ValidationError
from cuvil.instrument.base import Instrument
from cuvil.ir_text import symbol_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuvil.instrument.base import PassRun
    from cuvil.pipeline import Pipeline

Array: TypeAlias = "NDArray[Any]"


class Semantics(Protocol):
    """How to run a function of a module, and on what."""

    def make_inputs(self, module: ModuleOp, name: str, seed: int) -> list[Array]:
        """Random inputs for the function `name`."""
        ...

    def make_parameters(self, module: ModuleOp, seed: int) -> dict[str, Array]:
        """Random values for the module's external globals."""
        ...

    def execute(
        self, module: ModuleOp, name: str, inputs: Sequence[Array], parameters: Mapping[str, Array]
    ) -> list[Array]:
        """The results of the function `name`."""
        ...


@dataclass
class ReferenceSemantics:
    """Cuvil's own: the reference interpreter, or native code at the lower levels."""

    _computed: dict[str, Array] = field(default_factory=dict[str, "Array"])
    """Values of globals that are computed from others: lower levels have lost how, and take them from here."""

    def make_inputs(self, module: ModuleOp, name: str, seed: int) -> list[Array]:
        from cuvil.semantics.random_inputs import make_inputs

        return make_inputs(module, name, seed)

    def make_parameters(self, module: ModuleOp, seed: int) -> dict[str, Array]:
        from cuvil.semantics.random_inputs import make_parameters

        return make_parameters(module, seed)

    def execute(
        self, module: ModuleOp, name: str, inputs: Sequence[Array], parameters: Mapping[str, Array]
    ) -> list[Array]:
        from cuvil.semantics.execution import execute

        return execute(module, name, list(inputs), dict(parameters), self._computed)


@dataclass
class Validate(Instrument):
    """Compares what the module's public functions compute before and after every pass.

    Raises `ValidationError` that names the pass, the function, and the largest difference.
    """

    seed: int = 0
    semantics: Semantics = field(default_factory=ReferenceSemantics)
    _inputs: dict[str, list[Array]] = field(default_factory=dict[str, "list[Array]"])
    _parameters: dict[str, Array] = field(default_factory=dict[str, Array])
    _results: dict[str, list[Array]] = field(default_factory=dict[str, "list[Array]"])

    def before_pipeline(self, pipeline: Pipeline, module: ModuleOp) -> None:
        names = public_functions(module)
        self._parameters = self.semantics.make_parameters(module, self.seed)
        self._inputs = {name: self.semantics.make_inputs(module, name, self.seed) for name in names}
        self._results = {name: self._execute(module, name, "before the pipeline") for name in names}

    def after_pass(self, run: PassRun) -> None:
        tolerance = float(getattr(run.pass_, "tolerance", 0.0))
        for name, before in self._results.items():
            after = self._execute(run.module, name, f"after pass '{run.name}'")
            if problem := difference(before, after, tolerance):
                place = next((op for op in run.module.walk() if symbol_of(op) == name), None)
                raise ValidationError(f"pass '{run.name}' changes what @{name} computes: {problem}", place)
            # The next pass is held against this one's results, or their tolerances would add up unseen.
            self._results[name] = after

    def _execute(self, module: ModuleOp, name: str, when: str) -> list[Array]:
        try:
            return self.semantics.execute(
                module, name, [array.copy() for array in self._inputs[name]], self._parameters
            )
        except Exception as error:
            message = error.message if isinstance(error, CuvilError) else f"{type(error).__name__}: {error}"
            raise ValidationError(f"@{name} cannot be run {when}: {message}") from error


def public_functions(module: ModuleOp) -> list[str]:
    """The names of the functions that have a body and that may be called from outside the module."""
    return [
        op.sym_name.data
        for op in module.ops
        if isinstance(op, FuncOp)
        and not op.is_declaration
        and (op.sym_visibility is None or op.sym_visibility.data == "public")
    ]


def difference(before: Sequence[Array], after: Sequence[Array], tolerance: float) -> str | None:
    """What is different between two lists of results, or None if they agree within `tolerance`."""
    if len(before) != len(after):
        return f"{len(before)} results before, {len(after)} after"
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if problem := _array_difference(old, new, tolerance):
            return f"result #{index}: {problem}"
    return None


def _array_difference(old: Array, new: Array, tolerance: float) -> str | None:
    import numpy as np

    if old.shape != new.shape or old.dtype != new.dtype:
        return f"{old.dtype}{list(old.shape)} before, {new.dtype}{list(new.shape)} after"
    same = _same_bits(old, new)
    if bool(same.all()):
        return None
    if not np.issubdtype(old.dtype, np.inexact) and old.dtype.kind in "biu":
        return _report(old, new, same, "")
    wide_old, wide_new = _widened(old), _widened(new)
    finite = np.isfinite(wide_old) & np.isfinite(wide_new)
    if not bool((finite | same).all()):
        return _report(old, new, finite | same, "NaN or infinity on one side only; ")
    delta = np.subtract(wide_new, wide_old, out=np.zeros_like(wide_old), where=finite)
    norm = float(np.linalg.norm(delta.ravel()))
    scale = float(np.linalg.norm(np.where(finite, wide_old, 0).ravel()))
    relative = norm / scale if scale else norm
    # Written so that a NaN in `relative` fails.
    if relative <= tolerance and tolerance > 0:
        return None
    worst = np.argmax(np.abs(delta)) if norm else np.argmin(same)
    return _report(old, new, same, f"relative norm {relative:.3g}, tolerance {tolerance:g}; ", int(worst))


def _same_bits(old: Array, new: Array) -> NDArray[np.bool_]:
    """Where the two are the same value to the last bit; any NaN is the same as any other."""
    import numpy as np

    if old.dtype.kind in "biu":
        return old == new
    wide_old, wide_new = _widened(old), _widened(new)
    both_nan = np.isnan(wide_old) & np.isnan(wide_new)
    if np.iscomplexobj(wide_old):
        return (wide_old == wide_new) | both_nan
    return ((wide_old == wide_new) & (np.signbit(wide_old) == np.signbit(wide_new))) | both_nan


def _widened(array: Array) -> Array:
    """In float64, which holds every value of the narrower types exactly, those that NumPy does not know too."""
    import numpy as np

    return array if array.dtype.kind == "c" else array.astype(np.float64)


def _report(old: Array, new: Array, same: Array, summary: str, flat_index: int | None = None) -> str:
    """Where the difference is largest, or the first one: `max difference 0.5 at [0, 3]: 1.0 before, 1.5 after`."""
    import numpy as np

    flat_index = int(np.argmin(same)) if flat_index is None else flat_index
    place = [int(i) for i in np.unravel_index(flat_index, old.shape)]
    was, is_ = old[tuple(place)], new[tuple(place)]
    size = abs(complex(is_) - complex(was)) if old.dtype.kind == "c" else abs(float(is_) - float(was))
    return f"{summary}max difference {size:.6g} at {place}: {was} before, {is_} after"
