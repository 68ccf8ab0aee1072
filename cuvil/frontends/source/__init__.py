"""The front end from Python source: a function's statements are read, not one path through them traced.

`function` is what `@cuvil.compile` makes, `reader` walks statements, `expressions` evaluates, `trace` turns torch
ops on fake tensors into `cuvil_tensor`, `control` and `loops` make
scf of what depends on tensors.
"""
