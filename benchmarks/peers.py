"""What Cuvil is compared with beside eager PyTorch: each where it is installed, set to two threads and float32."""

from __future__ import annotations

import importlib.util
import io
import logging
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from benchmarks.measure import THREADS

Runner = Callable[[], object]


def torch_compile(model: nn.Module, inputs: tuple[Tensor, ...]) -> Runner:
    """torch.compile's Inductor with frozen weights, warmed up."""
    import torch._inductor.config as inductor_config

    torch._dynamo.reset()
    with inductor_config.patch(freezing=True):
        compiled = torch.compile(model, fullgraph=False)
        compiled(*inputs)
    return lambda: compiled(*inputs)


def onnxruntime(model: nn.Module, inputs: tuple[Tensor, ...]) -> Runner:
    """ONNX Runtime's CPU provider with all optimizations."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(_onnx_bytes(model, inputs), options, providers=["CPUExecutionProvider"])
    feed = {given.name: value.numpy() for given, value in zip(session.get_inputs(), inputs, strict=True)}
    return lambda: session.run(None, feed)


def openvino(model: nn.Module, inputs: tuple[Tensor, ...]) -> Runner:
    """OpenVINO's CPU plugin, float32, set for latency."""
    import openvino as ov

    core = ov.Core()
    settings = {"INFERENCE_NUM_THREADS": THREADS, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    compiled = core.compile_model(core.read_model(io.BytesIO(_onnx_bytes(model, inputs))), "CPU", settings)
    arrays = [value.numpy() for value in inputs]
    return lambda: compiled(arrays)


def _onnx_bytes(model: nn.Module, inputs: tuple[Tensor, ...]) -> bytes:
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    program = torch.onnx.export(model, inputs, dynamo=True, verbose=False)
    assert program is not None
    return program.model_proto.SerializeToString()


PEERS: dict[str, tuple[str, Callable[[nn.Module, tuple[Tensor, ...]], Runner]]] = {
    "inductor": ("torch", torch_compile),
    "onnxruntime": ("onnxruntime", onnxruntime),
    "openvino": ("openvino", openvino),
}
"""By name: the module that must be installed, and how a model is made ready."""


def installed() -> list[str]:
    """The peers whose module is installed."""
    return [name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module) is not None]


def prepare(names: Sequence[str], model: nn.Module, inputs: tuple[Tensor, ...]) -> dict[str, Runner]:
    """A runner of `model` for each of the named peers."""
    return {name: PEERS[name][1](model, inputs) for name in names}
