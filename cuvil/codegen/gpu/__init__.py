"""Emitting `cuvil_gpu` kernels from fused kernels: what one thread runs, as the loop emitters do for the CPU."""
