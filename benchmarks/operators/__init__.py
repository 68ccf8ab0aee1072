"""The operator surface: PyTorch's own samples of every operator, compiled natively and compared with eager PyTorch."""
