"""Statements of functions that are read: what Python values decide happens now, what tensors decide becomes scf."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn

from cuvil.errors import CuvilError, InternalError, UnsupportedError
from cuvil.frontends.source import structures
from cuvil.frontends.source.attempts import Attempts
from cuvil.frontends.source.calls import NumberRange, UserRaise
from cuvil.frontends.source.control import Clash, Outcome, State, branch, is_dynamic, truth_of
from cuvil.frontends.source.expressions import explained, position
from cuvil.frontends.source.loops import loop
from cuvil.frontends.source.numbers import Number
from cuvil.frontends.source.outside import AttributeAssignedError
from cuvil.frontends.source.scopes import Scope
from cuvil.frontends.source.syntax import SourceError, Syntax, breaks, escapes
from cuvil.frontends.source.trace import OutsideWrittenError

MOST_ITERATIONS = 10_000
"""Of a loop that is resolved at compile time."""


class Reader(Attempts):
    """Runs the statements of functions on Python values and fake tensors."""

    def run_body(self, syntax: Syntax, scope: Scope) -> Any:
        last = ast.copy_location(ast.Return(None), syntax.body[-1])
        outcome = self.block([*syntax.body, last], scope)
        for leaf in structures.leaves(outcome.value):
            if isinstance(leaf, Clash):
                raise SourceError(leaf.reason, scope.source.place(syntax.node))
        return outcome.value

    def block(self, statements: list[ast.stmt], scope: Scope) -> Outcome:
        """Run statements in order. Where a branch on a tensor may leave the block, the rest is part of its regions."""
        waiting = list(statements)
        while waiting:
            statement = waiting.pop(0)
            if isinstance(statement, ast.If):
                condition = self.expression(statement.test, scope)
                if not is_dynamic(condition):
                    waiting = [*(statement.body if condition else statement.orelse), *waiting]
                    continue
                leaves = escapes(statement.body) or escapes(statement.orelse)
                outcome = self.branch_at(statement, condition, scope, waiting if leaves else [])
                if leaves:
                    return outcome
                continue
            if isinstance(statement, ast.Match):
                waiting = [
                    *self.placed(statement, scope, functools.partial(self.statements_of, statement, scope)),
                    *waiting,
                ]
                continue
            if isinstance(statement, ast.Break):
                return Outcome(broke=True)
            if isinstance(statement, ast.Continue):
                return Outcome()
            if isinstance(statement, ast.Return):
                return Outcome(
                    returned=True, value=self.expression(statement.value, scope) if statement.value else None
                )
            outcome = self.statement(statement, scope)
            if not outcome.is_plain:
                return self.resume(outcome, functools.partial(self.block, waiting, scope), scope, statement)
        return Outcome()

    def branch_at(self, node: ast.If, condition: Any, scope: Scope, rest: list[ast.stmt]) -> Outcome:
        """An if on a tensor, with the statements that follow inside where it may leave the block."""
        ways = [lambda: self.block([*node.body, *rest], scope), lambda: self.block([*node.orelse, *rest], scope)]
        return self.placed(node.test, scope, lambda: branch(self.tracer, self.frames, condition, ways[0], ways[1]))

    def resume(self, outcome: Outcome, rest: Callable[[], Outcome], scope: Scope, node: ast.stmt) -> Outcome:
        """Go on after statements that may have left the block: at once, never, or where the tensors did not leave."""
        if outcome.is_plain:
            return rest()
        if not outcome.is_mixed:
            return outcome
        left = outcome if outcome.broke is not False else Outcome(returned=True, value=outcome.value)
        return self.placed(node, scope, lambda: branch(self.tracer, self.frames, _escaped(outcome), lambda: left, rest))

    def placed(self, node: ast.AST, scope: Scope, run: Callable[[], Any]) -> Any:
        """Run something whose operations and errors are at a node."""
        here = self.tracer.builder.location
        self.tracer.at(scope.source.attribute(node))
        try:
            return run()
        except (SourceError, UserRaise, InternalError, OutsideWrittenError, AttributeAssignedError):
            raise
        except CuvilError as error:
            raise SourceError(error.message, scope.source.place(node)) from None
        except RecursionError:
            raise SourceError("this unrolls too deeply; make it a loop on tensors", scope.source.place(node)) from None
        finally:
            self.tracer.at(here)

    # -- simple statements -------------------------------------------------------------------------------------------

    def statement(self, node: ast.stmt, scope: Scope) -> Outcome:
        """Run a statement that is not a branch and does not itself leave."""
        run = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if run is None:
            name = type(node).__name__.lower()
            raise SourceError(
                f"a {name} statement cannot be compiled; move it out of the function", scope.source.place(node)
            )
        return self.placed(node, scope, lambda: run(node, scope)) or Outcome()

    def _do_pass(self, node: ast.Pass, scope: Scope) -> None:
        pass

    def _do_expr(self, node: ast.Expr, scope: Scope) -> None:
        self.expression(node.value, scope)

    def _do_assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.expression(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def _do_annassign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value, scope), scope)

    def _do_augassign(self, node: ast.AugAssign, scope: Scope) -> None:
        load = _loading(node.target)
        old, new = self.expression(load, scope), self.expression(node.value, scope)
        try:
            value = self.augmented(node.op, old, new)
        except CuvilError:
            raise
        except Exception as error:  # in torch's words
            raise SourceError(explained(error), scope.source.place(node)) from None
        self.assign(node.target, value, scope)

    def _do_delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.names.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                holder = self.expression(target.value, scope)
                self.check_own(holder)
                del holder[self.expression(target.slice, scope)]

    def _do_functiondef(self, node: ast.FunctionDef, scope: Scope) -> None:
        function: Any = self.defined(node, scope)
        for decorator in reversed(node.decorator_list):
            function = self.call(self.expression(decorator, scope), (function,), {}, scope.source.place(decorator))
        scope.set(node.name, function)

    def _do_global(self, node: ast.Global, scope: Scope) -> None:
        if scope.parent is not None:
            raise UnsupportedError("a global statement in a nested function; pass the value in, or return it")
        scope.nonlocals.update(node.names)  # they may be read; to set them is refused

    def _do_nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.nonlocals.update(node.names)

    def _do_import(self, node: ast.Import, scope: Scope) -> None:
        import importlib

        for alias in node.names:
            module = importlib.import_module(alias.name)
            scope.set(alias.asname or alias.name.partition(".")[0], module if alias.asname else __import__(alias.name))

    def _do_importfrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        import importlib

        module = importlib.import_module("." * node.level + (node.module or ""), scope.globals.get("__package__"))
        for alias in node.names:
            scope.set(alias.asname or alias.name, getattr(module, alias.name))

    def _do_assert(self, node: ast.Assert, scope: Scope) -> None:
        value = self.expression(node.test, scope)
        if is_dynamic(value):
            raise UnsupportedError("an assert on tensor values cannot be compiled; check before the call, or remove it")
        if not value:
            raise UserRaise(AssertionError(self.expression(node.msg, scope) if node.msg else ast.unparse(node.test)))

    def _do_raise(self, node: ast.Raise, scope: Scope) -> None:
        if self.tracer.builder.block is not self.tracer.entry:
            raise UnsupportedError("a raise that depends on tensor values cannot be compiled; return a flag instead")
        raised = self.expression(node.exc, scope) if node.exc is not None else self.caught()
        raise UserRaise(raised() if isinstance(raised, type) else raised)

    def _do_with(self, node: ast.With, scope: Scope) -> Outcome:
        managers: list[Any] = []
        for item in node.items:
            manager = self.expression(item.context_expr, scope)
            if type(manager).__module__.partition(".")[0] not in ("torch", "contextlib"):
                raise UnsupportedError("only torch's context managers are entered; move this one out of the function")
            entered = manager.__enter__()
            managers.append(manager)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, scope)
        try:
            return self.block(node.body, scope)
        finally:
            for manager in reversed(managers):
                manager.__exit__(None, None, None)

    # -- assignment --------------------------------------------------------------------------------------------------

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.set(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self.unpack(parts, self.items(value), scope)
            case ast.Subscript():
                self.set_item(target, value, scope)
            case ast.Attribute():
                holder = self.expression(target.value, scope)
                if self.assigns_tensor(holder, target.attr, value):
                    return
                if not structures.is_instance_of_dataclass(holder) or not self.is_own(holder):
                    raise SourceError(
                        f"attribute '{target.attr}' of a {type(holder).__name__} is set; compiled code would not do it "
                        "again: return the new value instead",
                        scope.source.place(target),
                    )
                setattr(holder, target.attr, value)
            case _:
                raise SourceError("nothing can be assigned here", scope.source.place(target))

    def unpack(self, targets: list[ast.expr], values: list[Any], scope: Scope) -> None:
        starred = [number for number, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if not starred:
            if len(targets) != len(values):
                raise UnsupportedError(f"{len(values)} values for {len(targets)} names")
            for target, value in zip(targets, values, strict=True):
                self.assign(target, value, scope)
            return
        (at,) = starred
        after = len(targets) - at - 1
        end = len(values) - after
        self.unpack([*targets[:at], *targets[at + 1 :]], [*values[:at], *values[end:]], scope)
        self.assign(cast(ast.Starred, targets[at]).value, values[at:end], scope)

    def set_item(self, target: ast.Subscript, value: Any, scope: Scope) -> None:
        holder, index = self.expression(target.value, scope), self.expression(target.slice, scope)
        if isinstance(holder, Tensor):
            value = value.tensor if isinstance(value, Number) else value
            place = position(index, holder.shape[0]) if holder.dim() else None
            if place is not None:
                row = torch.as_tensor(value, dtype=holder.dtype).to(holder.dtype).expand(holder.shape[1:])
                holder.index_put_((place,), row.unsqueeze(0))
                return
        else:
            self.check_own(holder)
        try:
            holder[index] = value
        except CuvilError:
            raise
        except Exception as error:  # in torch's words
            raise SourceError(explained(error), scope.source.place(target)) from None

    # -- loops -------------------------------------------------------------------------------------------------------

    def _do_while(self, node: ast.While, scope: Scope) -> Outcome:
        return self.iterate_while(node, scope, 0)

    def iterate_while(self, node: ast.While, scope: Scope, count: int) -> Outcome:
        while True:
            test = self.expression(node.test, scope)
            if is_dynamic(test):
                return self.loop_while(node, test, scope)
            if not test:
                return self.block(node.orelse, scope)
            if isinstance(node.test, ast.Constant) and escapes(node.body) and self.is_mixed(node.body, scope):
                return self.loop_while(node, True, scope)
            if count >= MOST_ITERATIONS:
                raise UnsupportedError(
                    f"a loop on Python values runs more than {MOST_ITERATIONS} times; loop on tensors"
                )
            count += 1
            outcome = self.block(node.body, scope)
            if not outcome.is_plain:
                again = functools.partial(self.iterate_while, node, scope, count)
                return self.left_loop(node, outcome, again, scope)

    def left_loop(
        self, node: ast.While | ast.For, outcome: Outcome, again: Callable[[], Outcome], scope: Scope
    ) -> Outcome:
        """After an iteration that broke or returned, or may have: the loop's outcome."""
        after = Outcome(returned=outcome.returned, value=outcome.value)
        if not outcome.is_mixed:
            return after
        if outcome.broke is False:
            after = Outcome(returned=True, value=outcome.value)
        return branch(self.tracer, self.frames, _escaped(outcome), lambda: after, again)

    def is_mixed(self, body: list[ast.stmt], scope: Scope) -> bool:
        """Whether tensors decide how statements end: found out by running them for nothing."""
        before = State.of(self.tracer, structures.containers(self.frames))
        here, self.tracer.builder.block = self.tracer.builder.block, self.tracer.scratch()
        try:
            return self.block(body, scope).is_mixed
        finally:
            self.tracer.builder.block = here
            before.restore(self.tracer)

    def loop_while(self, node: ast.While, go: Any, scope: Scope) -> Outcome:
        """A loop whose length depends on tensors."""
        return self.loop_on(
            node, go, lambda: self.block(node.body, scope), lambda: self.expression(node.test, scope), scope
        )

    def loop_on(
        self, node: ast.While | ast.For, go: Any, body: Callable[[], Outcome], test: Callable[[], Any], scope: Scope
    ) -> Outcome:
        left = f"whether the loop of line {node.lineno} was left"
        if node.orelse:
            scope.names[left] = False

        def once() -> tuple[Any, Outcome]:
            outcome = body()
            after = Outcome(returned=outcome.returned, value=outcome.value)
            escaped = _escaped(outcome)
            if node.orelse:
                scope.names[left] = escaped
            if not is_dynamic(escaped):
                return (False if escaped else truth_of(test())), after
            more = branch(self.tracer, self.frames, escaped, lambda: False, lambda: truth_of(test()))
            return more, after

        outcome = loop(self.tracer, self.frames, go, once)
        if not node.orelse:
            endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and not breaks(node.body)
            # A loop that only a return ends: what follows is never reached.
            return Outcome(returned=True, value=outcome.value) if endless and is_dynamic(outcome.returned) else outcome
        was_left = scope.names.pop(left)
        return self.resume(outcome, lambda: self.else_of(node, was_left, scope), scope, node)

    def else_of(self, node: ast.While | ast.For, was_left: Any, scope: Scope) -> Outcome:
        """The else of a loop that tensors may have left by break."""
        if not is_dynamic(was_left):
            return Outcome() if was_left else self.block(node.orelse, scope)
        return branch(self.tracer, self.frames, was_left, Outcome, lambda: self.block(node.orelse, scope))

    def _do_for(self, node: ast.For, scope: Scope) -> Outcome:
        iterable = self.expression(node.iter, scope)
        if isinstance(iterable, NumberRange):
            return self.loop_for(node, iterable, scope)
        if isinstance(iterable, nn.Module) and not isinstance(iterable, nn.ModuleList | nn.Sequential):
            raise UnsupportedError(f"a {type(iterable).__name__} is not iterable")
        return self.iterate_for(node, self.items(iterable), 0, scope)

    def iterate_for(self, node: ast.For, items: list[Any], first: int, scope: Scope) -> Outcome:
        if len(items) > MOST_ITERATIONS:
            raise UnsupportedError(f"a loop on Python values runs {len(items)} times; loop on tensors")
        for number in range(first, len(items)):
            self.assign(node.target, self.seen(items[number], "item"), scope)
            outcome = self.block(node.body, scope)
            if not outcome.is_plain:
                return self.left_loop(
                    node, outcome, functools.partial(self.iterate_for, node, items, number + 1, scope), scope
                )
        return self.block(node.orelse, scope)

    def loop_for(self, node: ast.For, span: NumberRange, scope: Scope) -> Outcome:
        """A for over a range that tensors decide."""
        counter = f"the counter of line {node.lineno}"
        compare = operator.lt if span.step > 0 else operator.gt
        scope.names[counter] = span.start

        def test() -> Any:
            return self.operate(compare, scope.names[counter], span.stop)

        def body() -> Outcome:
            self.assign(node.target, scope.names[counter], scope)
            scope.names[counter] = self.operate(operator.add, scope.names[counter], span.step)
            return self.block(node.body, scope)

        try:
            return self.loop_on(node, test(), body, test, scope)
        finally:
            scope.names.pop(counter, None)


def _escaped(outcome: Outcome) -> Any:
    """Whether statements left their block."""
    if outcome.broke is True or outcome.returned is True:
        return True
    flags = [flag for flag in (outcome.broke, outcome.returned) if isinstance(flag, Number)]
    if len(flags) == 2:
        return Number(torch.logical_or(flags[0].tensor, flags[1].tensor))
    return flags[0] if flags else False


def _loading(target: ast.expr) -> ast.expr:
    """The same place, to be read."""
    copy = type(target)(**{name: getattr(target, name) for name in target._fields})
    cast(Any, copy).ctx = ast.Load()
    return ast.copy_location(copy, target)
