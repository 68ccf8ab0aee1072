"""Random weights under which a deep network computes something.

The default initialisations of `torch.nn` and `transformers` are made for training. In inference a deep convolutional
network so initialised lets its activations decay into denormals or into a constant: it runs at another speed than a
trained one, and comparing its outputs proves little. Here every linear map preserves the variance of its input, scales
and shifts of norms are random (a fold of them is then visible in the output), and the statistics of batch norms are
those of one random batch, so that activations stay near unit variance at every depth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd


def randomize(model: nn.Module, generator: torch.Generator) -> None:
    """Draw every trained parameter of `model` anew; fixed ones (`requires_grad` unset: sinusoids) stay."""
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                if parameter.requires_grad:
                    _draw(module, name, parameter, generator)


def _draw(module: nn.Module, name: str, parameter: Tensor, generator: torch.Generator) -> None:
    if name == "bias":
        parameter.normal_(0.0, 0.1, generator=generator)
    elif isinstance(module, _BatchNorm):
        parameter.uniform_(0.5, 1.5, generator=generator)
    elif "Norm" in type(module).__name__:
        parameter.uniform_(0.8, 1.2, generator=generator)
    elif isinstance(module, _ConvNd):
        fan_in = parameter[0].numel()
        parameter.normal_(0.0, math.sqrt(2.0 / fan_in), generator=generator)
    elif isinstance(module, nn.Embedding):  # its transpose may be the output layer
        parameter.normal_(0.0, 1.0 / math.sqrt(parameter.shape[1]), generator=generator)
    elif type(module).__name__ == "Conv1D":  # GPT-2's linear layer, stored [in, out]
        parameter.normal_(0.0, 1.0 / math.sqrt(parameter.shape[0]), generator=generator)
    elif isinstance(module, nn.Linear):
        parameter.normal_(0.0, 1.0 / math.sqrt(parameter.shape[1]), generator=generator)
    elif "layer_scale" in name:  # 1e-6 by default, which silences the block
        parameter.uniform_(0.5, 1.0, generator=generator)
    else:
        parameter.normal_(0.0, 0.1, generator=generator)


def calibrate_batch_norms(
    model: nn.Module, inputs: Iterable[Tensor], keywords: Mapping[str, Any] | None = None
) -> None:
    """Set the running statistics of every batch norm to those of one pass over `inputs`; the model is left in eval."""
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if norms:
        momenta = [norm.momentum for norm in norms]
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the plain average of the passes
            norm.train()
        with torch.no_grad():
            model(*inputs, **(keywords or {}))
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
    model.eval()
