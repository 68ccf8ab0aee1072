"""Sixty-odd `transformers` architectures in tiny sizes, each through torch.export and through torch.compile."""
