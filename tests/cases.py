"""Tables of functions, each with the arguments of calls that take each of its ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


class Cases(list[tuple[Function, list[tuple[Any, ...]]]]):
    """Functions and the calls of each."""

    def add(self, *calls: tuple[Any, ...]) -> Callable[[Function], Function]:
        """Put a function into the table, by decoration."""

        def put(function: Function) -> Function:
            self.append((function, list(calls)))
            return function

        return put
