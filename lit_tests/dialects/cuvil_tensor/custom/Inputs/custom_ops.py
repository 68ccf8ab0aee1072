"""Custom ops of the tests."""

import numpy as np

import cuvil

cuvil.register_op(
    "mylib::add_relu",
    reference=lambda x, y: np.maximum(x + y, 0),
    lowering="max(x + y, 0)",
    result=lambda x, y: [x],
)
cuvil.register_op("mylib::scaled", reference=lambda x, alpha=1.0: x * alpha, lowering="x * alpha")
cuvil.register_op("mylib::opaque", callback=lambda x: x[::-1])
