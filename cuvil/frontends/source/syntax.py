"""The syntax tree of a Python function, with places in its file."""

from __future__ import annotations

import ast
import functools
import importlib.util
import inspect
import os
import textwrap
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

import cuvil.errors
from cuvil.errors import Diagnostic, SourceLocation, UnsupportedError, render

FunctionNode: TypeAlias = ast.FunctionDef | ast.Lambda
_UNREAD = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFunctionDef, ast.ClassDef, ast.TryStar)


class SourceError(UnsupportedError):
    """What the front end cannot read, at its place in the user's source; as text, with the line and a caret."""

    def __str__(self) -> str:
        shown = Diagnostic("error", self.message, self.location, tuple(self.notes))
        return render(shown)


@dataclass(frozen=True)
class Source:
    """Where a syntax tree stands: what to add to its lines and columns."""

    file: str
    line: int
    column: int

    def place(self, node: ast.AST) -> SourceLocation:
        """The place of a node in the file."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", column + 1) if getattr(node, "end_lineno", line) == line else column + 1
        return SourceLocation(self.file, self.line + line, self.column + column + 1, max(end - column, 1))

    def attribute(self, node: ast.AST) -> FileLineColLoc:
        """The place of a node as an attribute of operations."""
        place = self.place(node)
        return FileLineColLoc(StringAttr(place.file), IntAttr(place.line), IntAttr(place.column))


@dataclass(frozen=True)
class Syntax:
    """A function's tree and where it stands."""

    node: FunctionNode
    source: Source

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements; a lambda's is one return."""
        if isinstance(self.node, ast.Lambda):
            return [ast.copy_location(ast.Return(self.node.body), self.node.body)]
        return self.node.body


@functools.lru_cache(maxsize=1024)
def syntax_of(function: FunctionType) -> Syntax | None:
    """The syntax of a function; None if its source cannot be had."""
    try:
        lines, first = inspect.getsourcelines(function)
        text = "".join(lines)
        indent = len(lines[0]) - len(lines[0].lstrip())
        tree = ast.parse(textwrap.dedent(text))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    source = Source(inspect.getsourcefile(function) or "<unknown>", max(first, 1) - 1, indent)
    wanted = function.__code__
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == wanted.co_name:
            return Syntax(node, source)
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    if len(lambdas) > 1:
        lambdas = [node for node in lambdas if _place_of(node.body, source) == _place_of_code(wanted)]
    return Syntax(lambdas[0], source) if wanted.co_name == "<lambda>" and len(lambdas) == 1 else None


def _place_of(node: ast.expr, source: Source) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where an expression begins and ends in its file: lines and columns as code has them."""
    end = (source.line + (node.end_lineno or 0), source.column + (node.end_col_offset or 0))
    return (source.line + node.lineno, source.column + node.col_offset), end


def _place_of_code(code: CodeType) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the expression of a lambda begins and ends; None of code that does not tell."""
    begins, ends = list[tuple[int, int]](), list[tuple[int, int]]()
    for line, end_line, column, end_column in code.co_positions():
        # Entry and return stand nowhere: they begin where they end.
        if (
            line
            and end_line
            and column is not None
            and end_column is not None
            and (line, column) != (end_line, end_column)
        ):
            begins.append((line, column))
            ends.append((end_line, end_column))
    return (min(begins), max(ends)) if begins else None


def is_read(function: Any) -> bool:
    """True for a Python function whose statements are read: neither torch's nor the standard library's."""
    return isinstance(function, FunctionType) and not function.__code__.co_filename.startswith(_native_folders())


@functools.lru_cache(maxsize=1)
def _native_folders() -> tuple[str, ...]:
    """Where code lies that runs on fake tensors as it is."""
    roots = [importlib.util.find_spec(name) for name in ("torch", "numpy")]
    folders = [os.path.dirname(root.origin) + os.sep for root in roots if root is not None and root.origin]
    folders.append(os.path.dirname(os.path.abspath(cuvil.errors.__file__)) + os.sep)
    return (*folders, os.path.dirname(os.__file__) + os.sep, "<")


@functools.lru_cache(maxsize=1024)
def first_unread(syntax: Syntax) -> ast.AST | None:
    """The first construct of a function that is never read."""
    return next((node for part in syntax.body for node in ast.walk(part) if isinstance(node, _UNREAD)), None)


def breaks(statements: list[ast.stmt]) -> bool:
    """True if statements may break out of the loop that they stand in."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.For | ast.While):
            waiting.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def escapes(statements: list[ast.stmt], in_loop: bool = False) -> bool:
    """True if statements may leave their block by return, break or continue."""
    for statement in statements:
        if isinstance(statement, ast.Return) or (isinstance(statement, ast.Break | ast.Continue) and not in_loop):
            return True
        if isinstance(statement, ast.FunctionDef):
            continue
        parts = (*getattr(statement, "cases", ()), *getattr(statement, "handlers", ()))
        if any(escapes(part.body, in_loop) for part in parts):
            return True
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, [])
            loop = in_loop or (name == "body" and isinstance(statement, ast.For | ast.While))
            if isinstance(inner, list) and escapes(inner, loop):
                return True
    return False
