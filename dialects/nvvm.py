"""`nvvm`: what a thread of an NVIDIA GPU can do beyond LLVM's instructions, with MLIR's own op spellings.

Level: beside the llvm dialect, inside kernels: `llvm.func`s that carry the attribute `nvvm.kernel`. Produced by
`lower-gpu-to-nvvm`, consumed by `cuvil-opt -t ptx`, which calls an LLVM intrinsic or writes inline PTX for each op.

- Threads, warps, barriers, clusters: `nvvm_threads`. mbarriers, fences, asynchronous copies: `nvvm_memory`.
  Fragments and products on tensor cores: `nvvm_matrix`.
- A pointer's address space: 0 generic, 1 global, 3 the block's shared memory, 7 the cluster's.
- A kernel may carry `nvvm.reqntid` and `nvvm.cluster_dim` (`array<i32: x, y, z>`), `nvvm.minctasm` and `nvvm.maxnreg`
  (integers); an argument `nvvm.grid_constant` with `llvm.byval`.

Not checked here: that the architecture has the instruction (each op says from which on it does; ptxas refuses it
otherwise), that a warp executes `sync` and `aligned` ops as a whole, alignment of addresses.
"""

from xdsl.ir import Dialect

from cuvil.dialects import nvvm_matrix, nvvm_memory, nvvm_threads
from cuvil.dialects.nvvm_attributes import ATTRIBUTES

KERNEL = "nvvm.kernel"
"""The unit attribute of an `llvm.func` that the host can launch."""

NVVM = Dialect(
    "nvvm",
    [*nvvm_threads.OPERATIONS, *nvvm_memory.OPERATIONS, *nvvm_matrix.OPERATIONS],
    ATTRIBUTES,
)
