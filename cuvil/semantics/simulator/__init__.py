"""The GPU simulator: `cuvil_gpu` kernels executed on the CPU with their real semantics, and watched while they run.

All threads of a block exist: a warp's 32 lanes compute in lockstep (one NumPy array a value, `warp.py`), warps take
turns between their barriers (`block.py`), and every access to memory is checked (`memory.py`): bounds, alignment,
reads of what nobody wrote, and data races, found by vector clocks rather than by luck of the order. A fault is a
`SimulationFault` that names the operation, its location, and the threads.

    launch(frame, kernel, (4, 1, 1), [x, y])
"""
