"""A failing program made small: statements, branches and results are taken out while it still fails."""

from __future__ import annotations

import ast
import copy
from collections.abc import Generator
from dataclasses import replace

from tests.programs.check import Wrong, check
from tests.programs.generator import Program

MOST_TRIES = 150


def reduced(wrong: Wrong) -> Wrong:
    """The failure of a smaller program; the same one if none fails."""
    tries = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in _candidates(wrong.program):
            tries += 1
            if tries > MOST_TRIES:
                return wrong
            try:
                check(candidate)
            except Wrong as found:
                wrong, smaller = found, True
                break
            except Exception:  # a program that is none any more
                continue
    return wrong


def _candidates(program: Program) -> Generator[Program]:
    """Programs with one thing less, those with the most gone first."""
    tree = ast.parse(program.source)
    count = sum(1 for _ in _places(tree))
    for number in range(count):
        smaller = copy.deepcopy(tree)
        block, place = list(_places(smaller))[number]
        statement = block[place]
        if isinstance(statement, ast.Return):
            continue
        del block[place]
        if not block:
            block.append(ast.Pass())
        yield replace(program, source=ast.unparse(smaller) + "\n")
        if isinstance(statement, ast.If | ast.For | ast.While):
            block[place:place] = [each for each in statement.body if not isinstance(each, ast.Break)]
            yield replace(program, source=ast.unparse(smaller) + "\n")
    yield from _with_fewer_results(program, tree)


def _with_fewer_results(program: Program, tree: ast.Module) -> Generator[Program]:
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    last = function.body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple) or len(last.value.elts) < 2:
        return
    for element in last.value.elts:
        smaller = copy.deepcopy(tree)
        body = smaller.body[0]
        assert isinstance(body, ast.FunctionDef)
        body.body[-1] = ast.Return(ast.Tuple([element], ast.Load()))
        yield replace(program, source=ast.unparse(smaller) + "\n")


def _places(tree: ast.AST) -> Generator[tuple[list[ast.stmt], int]]:
    """Every statement of the function, as a place in a block; outer ones first."""
    function = tree.body[0] if isinstance(tree, ast.Module) else tree
    blocks = [getattr(function, name, []) for name in ("body", "orelse")]
    for block in blocks:
        for place in range(len(block)):
            yield block, place
    for block in blocks:
        for statement in list(block):
            if isinstance(statement, ast.If | ast.For | ast.While):
                yield from _places(statement)
