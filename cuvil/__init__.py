"""Cuvil: an MLIR-style, multi-dialect compiler for PyTorch inference."""
