"""`try`: exceptions that come while the function is read, whatever tensors hold, are handled as Python handles them."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Any

from cuvil.errors import UnsupportedError
from cuvil.frontends.source.calls import UserRaise
from cuvil.frontends.source.control import Outcome
from cuvil.frontends.source.patterns import Patterns
from cuvil.frontends.source.scopes import Guards, Scope
from cuvil.frontends.source.syntax import SourceError
from cuvil.frontends.source.trace import Tracer


class Attempts(Patterns):
    """Reads try statements."""

    def __init__(self, tracer: Tracer, guards: Guards) -> None:
        super().__init__(tracer, guards)
        self.handling: list[BaseException] = []
        """The exceptions that are being handled, innermost last."""

    @abstractmethod
    def block(self, statements: list[ast.stmt], scope: Scope) -> Outcome:
        """Run statements in order; the statements' part."""

    def _do_try(self, node: ast.Try, scope: Scope) -> Outcome:
        try:
            outcome = self.attempted(node, scope)
        except (UserRaise, SourceError):
            self.block(node.finalbody, scope)
            raise
        last = self.block(node.finalbody, scope)
        return outcome if last.is_plain else last

    def attempted(self, node: ast.Try, scope: Scope) -> Outcome:
        """A try without its finally."""
        here = self.tracer.builder.block
        depth = len(self.frames)
        try:
            outcome = self.block(node.body, scope)
        except (UserRaise, SourceError) as error:
            raised = self.exception_of(error, here)
            handler = None if raised is None else self.handler_of(node, raised, scope)
            if handler is None or raised is None:
                raise
            del self.frames[depth:]
            return self.handled(handler, raised, scope)
        if not outcome.is_plain:
            if node.orelse and outcome.is_mixed:
                raise UnsupportedError("the else of a try that tensors may leave; put it into the try") from None
            return outcome
        return self.block(node.orelse, scope)

    def exception_of(self, error: UserRaise | SourceError, here: Any) -> BaseException | None:
        """Python's exception that an error stands for; None of what is not Python's, or comes where tensors decide."""
        if isinstance(error, UserRaise):
            return error.raised
        _, raised, block = self.exceptions.get(id(error), (None, None, None))
        return raised if block is here else None

    def handler_of(self, node: ast.Try, raised: BaseException, scope: Scope) -> ast.ExceptHandler | None:
        """The handler that takes an exception."""
        for handler in node.handlers:
            if handler.type is None or isinstance(raised, self.expression(handler.type, scope)):
                return handler
        return None

    def handled(self, handler: ast.ExceptHandler, raised: BaseException, scope: Scope) -> Outcome:
        """Run a handler; its name for the exception is gone afterwards."""
        if handler.name is not None:
            scope.set(handler.name, raised)
        self.handling.append(raised)
        try:
            return self.block(handler.body, scope)
        finally:
            self.handling.pop()
            if handler.name is not None:
                scope.names.pop(handler.name, None)

    def caught(self) -> BaseException:
        """The exception that a bare raise raises again."""
        return self.handling[-1] if self.handling else RuntimeError("No active exception to reraise")
