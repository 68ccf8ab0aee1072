"""What code generation needs to know of an NVIDIA GPU: its architecture, and what a block may use.

`CudaTarget.named("sm_90a")` describes one; nothing of CUDA is asked or needed. Sizes are those of NVIDIA's table of
technical specifications per compute capability.
"""

from __future__ import annotations

from dataclasses import dataclass

from cuvil.targets.cpu import CpuTarget

TRIPLE = "nvptx64-nvidia-cuda"

THREAD = CpuTarget(TRIPLE, "sm_80", "", vector_bytes=16, vector_registers=255, l1_bytes=0, l2_bytes=0)
"""One thread, as the loop level sees it: accesses of 16 bytes; bf16 is rounded in integers, which every GPU can."""


@dataclass(frozen=True)
class CudaTarget:
    """One GPU architecture to generate code for."""

    arch: str
    """The name that LLVM and ptxas know, e.g. `sm_90a`; an `a` ends those whose code runs on no later one."""
    shared_bytes: int
    """The most shared memory that a block can ask for."""
    threads_per_multiprocessor: int
    """Resident threads of a multiprocessor."""
    registers_per_multiprocessor: int = 64 << 10
    registers_per_thread: int = 255
    threads_per_block: int = 1024
    warp_size: int = 32

    @property
    def capability(self) -> int:
        """The compute capability as a number: 90 for `sm_90a`."""
        return int(self.arch.removeprefix("sm_").rstrip("a"))

    @property
    def is_accelerated(self) -> bool:
        """True where the instructions of this one architecture may be used: wgmma, setmaxnreg."""
        return self.arch.endswith("a")

    @staticmethod
    def names() -> tuple[str, ...]:
        """What `named` accepts."""
        return tuple(_NAMED)

    @staticmethod
    def named(name: str) -> CudaTarget:
        """The architecture called `name`.

        Raises `ValueError` for an unknown name.
        """
        if name not in _NAMED:
            raise ValueError(f"unknown gpu architecture '{name}': expected one of {', '.join(CudaTarget.names())}")
        return _NAMED[name]


_AMPERE, _CONSUMER, _HOPPER = 163 << 10, 99 << 10, 227 << 10
_NAMED = {
    target.arch: target
    for target in (
        CudaTarget("sm_80", _AMPERE, 2048),
        CudaTarget("sm_86", _CONSUMER, 1536),
        CudaTarget("sm_89", _CONSUMER, 1536),
        CudaTarget("sm_90", _HOPPER, 2048),
        CudaTarget("sm_90a", _HOPPER, 2048),
    )
}
