"""Measurements of Cuvil against eager PyTorch and its peers, as ratios taken in one run."""
