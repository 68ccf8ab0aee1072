"""What code generation needs to know of a CPU: its vectors, registers and caches, and how LLVM names it.

`CpuTarget.host()` describes the machine that runs; `CpuTarget.named("x86-64-v4")` one that does not depend on it,
which is what tests of generated text use. Cache sizes of named targets are the common ones of that class.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class CpuTarget:
    """One CPU to generate code for."""

    triple: str
    """LLVM target triple, e.g. `x86_64-unknown-linux-gnu`."""
    cpu: str
    """LLVM's name of the CPU, e.g. `znver4`."""
    features: str
    """LLVM feature string, e.g. `+avx2,+fma`; may be empty where `cpu` says it all."""
    vector_bytes: int
    """Bytes of one vector register: 64 for AVX-512, 32 for AVX2, 16 for SSE and NEON."""
    vector_registers: int
    """Architectural vector registers: 32 for AVX-512 and NEON, 16 for AVX2 and SSE."""
    l1_bytes: int
    """First-level data cache of one core."""
    l2_bytes: int
    """Second-level cache of one core."""

    def lanes(self, bits: int) -> int:
        """Elements of `bits` bits in one vector register; at least one."""
        return max(self.vector_bytes * 8 // bits, 1)

    @property
    def is_x86(self) -> bool:
        """True for 64-bit x86."""
        return self.triple.startswith("x86_64")

    @staticmethod
    def host() -> CpuTarget:
        """The machine this process runs on."""
        return _host()

    @staticmethod
    def names() -> tuple[str, ...]:
        """What `named` accepts."""
        return ("host", *_NAMED)

    @staticmethod
    def named(name: str) -> CpuTarget:
        """The target called `name`: `host` or a portable one.

        Raises `ValueError` for an unknown name.
        """
        if name == "host":
            return _host()
        if name not in _NAMED:
            raise ValueError(f"unknown cpu target '{name}': expected one of {', '.join(CpuTarget.names())}")
        return _NAMED[name]


_LINUX_X86 = "x86_64-unknown-linux-gnu"
_NAMED = {
    "x86-64-v2": CpuTarget(_LINUX_X86, "x86-64-v2", "", 16, 16, 32 << 10, 512 << 10),
    "x86-64-v3": CpuTarget(_LINUX_X86, "x86-64-v3", "", 32, 16, 32 << 10, 512 << 10),
    "x86-64-v4": CpuTarget(_LINUX_X86, "x86-64-v4", "", 64, 32, 48 << 10, 1 << 20),
    "aarch64": CpuTarget("aarch64-unknown-linux-gnu", "generic", "+neon", 16, 32, 64 << 10, 1 << 20),
}


@cache
def _host() -> CpuTarget:
    # llvmlite is loaded here and not above: naming a target must not cost the import.
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    vector_bytes, registers = _vectors_of(features)
    return CpuTarget(
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
        vector_bytes=vector_bytes,
        vector_registers=registers,
        l1_bytes=_cache_bytes(1, default=32 << 10),
        l2_bytes=_cache_bytes(2, default=512 << 10),
    )


def _vectors_of(features: dict[str, bool]) -> tuple[int, int]:
    """Bytes of a vector register and the number of registers, from LLVM's host features."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return 16, 32
    if all(features.get(name, False) for name in ("avx512f", "avx512vl", "avx512bw", "avx512dq")):
        return 64, 32
    if features.get("avx2", False) and features.get("fma", False):
        return 32, 16
    return 16, 16


def _cache_bytes(level: int, default: int) -> int:
    """Size of the data or unified cache at `level`, from sysfs; `default` where the system does not say."""
    for entry in sorted(_CACHES.glob("index*")):
        try:
            if (entry / "type").read_text().strip() == "Instruction" or int((entry / "level").read_text()) != level:
                continue
            text = (entry / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        digits, unit = text.rstrip("KMG"), text[-1:]
        if digits.isdigit():
            return int(digits) * _UNITS.get(unit, 1)
    return default
