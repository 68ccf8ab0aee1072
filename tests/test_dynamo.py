"""torch.compile with the backend "cuvil": results as eager's, parts, what is left to PyTorch, recompilation."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import cuvil
from benchmarks.models import MODELS
from cuvil.errors import UserError
from cuvil.frontends.dynamo import CompiledGraph, GraphsExplanation
from cuvil.instrument import remarks
from cuvil.instrument.warnings import CuvilWarning
from cuvil.options import OptionError

OPTIONS: dict[str, Any] = {"threads": 1}


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore", CuvilWarning)
        yield
    torch._dynamo.reset()


def with_cuvil(function: Any) -> Any:
    return torch.compile(function, backend="cuvil", options=OPTIONS)


def graphs_of(compiled: Any) -> tuple[CompiledGraph, ...]:
    explanation = cuvil.explain(compiled)
    assert isinstance(explanation, GraphsExplanation)
    return explanation.graphs


def agree(compiled: Any, eager: Any, *inputs: Tensor) -> None:
    torch.testing.assert_close(compiled(*inputs), eager(*inputs), check_stride=True)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x)))


def test_torch_finds_the_backend_without_an_import_of_cuvil() -> None:
    program = "import sys, torch; assert 'cuvil' in torch.compiler.list_backends() and 'cuvil' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["resnet50", "bert_base", "llama"])
def test_models_match_eager(name: str) -> None:
    model, inputs = MODELS[name].load(tiny=True)
    compiled = with_cuvil(model)
    torch.testing.assert_close(compiled(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)
    (graph,) = graphs_of(compiled)
    assert graph.left == []
    assert [len(each.lowered.parts) for each in graph.specializations if each.lowered] == [1]


def test_graph_break_makes_two_graphs() -> None:
    def broken(x: Tensor) -> Tensor:
        y = torch.exp(x)
        torch._dynamo.graph_break()
        return torch.sin(y)

    compiled = with_cuvil(broken)
    agree(compiled, broken, torch.randn(4))
    assert [graph.compilations for graph in graphs_of(compiled)] == [1, 1]


def test_unsupported_op_runs_in_torch_between_parts_and_is_told() -> None:
    def spectrum(x: Tensor) -> Tensor:
        y = torch.exp(x) + 1
        z = torch.linalg.qr(y)[0]
        return torch.relu(z) * 2

    compiled = with_cuvil(spectrum)
    with remarks.collect() as said, pytest.warns(CuvilWarning, match="linalg_qr"):
        agree(compiled, spectrum, torch.randn(4, 4))
    (told,) = [remark for remark in said if remark.pass_name == "torch.compile"]
    assert told.op_name == "aten.linalg_qr.default"
    assert told.location is not None
    assert told.location.file == __file__
    assert told.location.line == spectrum.__code__.co_firstlineno + 2
    (graph,) = graphs_of(compiled)
    (made,) = graph.specializations
    assert made.lowered is not None
    assert len(made.lowered.parts) == 2
    assert "aten.linalg_qr.default" in str(cuvil.explain(compiled))


def test_autograd_is_left_to_torch() -> None:
    model = Net()
    compiled, x = with_cuvil(model), torch.randn(2, 3)
    with torch.enable_grad(), pytest.warns(CuvilWarning, match="autograd"):
        compiled(x).sum().backward()
    assert model.first.weight.grad is not None
    model.eval()
    agree(compiled, model, x)
    assert [graph.compilations for graph in graphs_of(compiled)] == [0, 1]


def test_training_mode_updates_statistics() -> None:
    model, twin = nn.Sequential(nn.BatchNorm1d(3)), nn.Sequential(nn.BatchNorm1d(3))
    agree(with_cuvil(model), twin, torch.randn(4, 3))
    torch.testing.assert_close(model.state_dict(), twin.state_dict())


def test_changed_input_is_changed() -> None:
    def change(x: Tensor) -> Tensor:
        x.add_(1)
        return x * 2

    given, twin = torch.randn(3), torch.empty(3)
    twin.copy_(given)
    torch.testing.assert_close(with_cuvil(change)(given), change(twin))
    torch.testing.assert_close(given, twin)


def test_results_share_memory_as_in_eager() -> None:
    def views(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        y = torch.exp(x)
        return x, x.view(-1)[1:], y, y.t()

    x = torch.randn(2, 3)
    same, part, y, turned = with_cuvil(views)(x)
    torch.testing.assert_close((same, part, y, turned), views(x), check_stride=True)
    assert same.data_ptr() == x.data_ptr()
    assert part.data_ptr() == x.data_ptr() + 4
    assert turned.data_ptr() == y.data_ptr()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.exp(x)[:, 1:],
        lambda x: torch.exp(x)[:1].expand(4, 4),
        lambda x: torch.exp(x.t()),
        lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (torch.exp(x),)),
        lambda x: x[x > 0] * 2,
        lambda x: (x.shape[0], torch.exp(x).relu_().add_(1), None, {"a": x}),
        lambda x: torch.nn.functional.dropout(torch.exp(x)) + torch.rand(4, 4),
        lambda x: torch.view_as_complex(x.view(4, 2, 2)) * 2,
    ],
    ids=["slice", "expand", "transposed", "cond", "mask", "nested", "random", "complex"],
)
def test_results_match_to_the_strides(function: Any) -> None:
    x, compiled = torch.randn(4, 4), with_cuvil(function)
    torch.manual_seed(1)
    got = compiled(x)
    torch.manual_seed(1)
    torch.testing.assert_close(got, function(x), check_stride=True)


def test_new_sizes_compile_again_once() -> None:
    model = Net().eval()
    compiled = with_cuvil(model)
    for rows in (2, 5, 7, 5, 64):
        agree(compiled, model, torch.randn(rows, 3))
    # One graph for the first size, and one of dynamo's for any other.
    graphs = graphs_of(compiled)
    assert [graph.compilations for graph in graphs] == [1, 1]
    assert cuvil.explain(compiled).recompiles == 1
    assert graphs[1].specializations[0].sizes.startswith("float32 [s")


def test_a_dim_marked_open_is_compiled_once() -> None:
    model = Net().eval()
    compiled = with_cuvil(model)
    for rows in (4, 9, 2, 31):
        x = torch.randn(rows, 3)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=32)
        agree(compiled, model, x)
    assert [graph.compilations for graph in graphs_of(compiled)] == [1]


def test_open_sizes_are_numbers_and_results_keep_their_strides() -> None:
    def function(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return (x * x.shape[0]).transpose(0, 1) * 2, torch.cat([x, y]) / y.shape[0]

    compiled = torch.compile(function, backend="cuvil", options=OPTIONS, dynamic=True)
    for rows in (3, 5, 8):
        agree(compiled, function, torch.randn(rows, 4), torch.randn(rows + 3, 4))
        agree(compiled, function, torch.randn(4, rows).T, torch.randn(rows + 3, 4))
    assert sum(graph.compilations for graph in graphs_of(compiled)) == 2  # once for each order of strides


def test_floats_that_dynamo_wraps_are_constants() -> None:
    model = nn.Sequential(nn.LayerNorm(8, eps=0.5), nn.GELU()).eval()
    compiled = torch.compile(model, backend="cuvil", options=OPTIONS, dynamic=True)
    for rows in (3, 5):
        agree(compiled, model, torch.randn(rows, 8))
    model[0].eps = 2.0  # pyright: ignore[reportAttributeAccessIssue]
    agree(compiled, model, torch.randn(4, 8))
    assert not any(graph.left for graph in graphs_of(compiled))


def test_sizes_that_cannot_stay_open_are_compiled_one_by_one_and_explained() -> None:
    def function(x: Tensor, count: int) -> Tensor:
        return x * count + x.shape[0]

    compiled = torch.compile(function, backend="cuvil", options=OPTIONS, dynamic=True)
    with remarks.collect() as said:
        for rows, count in ((3, 2), (5, 2), (5, 4)):
            x = torch.randn(rows, 4)
            torch.testing.assert_close(compiled(x, count), function(x, count))
    (graph,) = graphs_of(compiled)
    assert graph.compilations == 3
    assert "one compilation for each size" in str(cuvil.explain(compiled))
    assert any("is no size of its inputs" in remark.text for remark in said)


def test_changed_weights_count() -> None:
    model, x = Net().eval(), torch.randn(2, 3)
    compiled = with_cuvil(model)
    for _ in range(4):
        agree(compiled, model, x)
        model.first.weight.mul_(0.5)
    (graph,) = graphs_of(compiled)
    assert graph.compilations == 2  # the second time the weight became an input
    model.second = nn.Linear(4, 5).eval()
    agree(compiled, model, x)


def test_layers_of_one_graph_share_code_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuvil.frontends.dynamo.MAXIMUM_BINDINGS", 2)
    layers, x = [Net().eval() for _ in range(5)], torch.randn(2, 3)
    for layer in layers:
        layer.compile(backend="cuvil", options=OPTIONS)
        torch.testing.assert_close(layer(x), layer.forward(x))
    (graph,) = graphs_of(torch.compile(layers[0], backend="cuvil"))
    assert [len(each.bound) for each in graph.specializations] == [4, 4, 0]


def test_threads_compile_and_call_at_once() -> None:
    model = Net().eval()
    compiled = with_cuvil(model)

    def work(rows: int) -> None:
        x = torch.randn(rows, 3)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x))

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work, rows) for rows in (2, 3, 4, 3, 2)]:
            done.result()


def test_inference_mode() -> None:
    model = Net().eval()
    compiled = with_cuvil(model)
    with torch.inference_mode():
        agree(compiled, model, torch.randn(2, 3))
    assert graphs_of(compiled)[0].left == []


def test_wrong_settings_are_refused() -> None:
    for settings, expected in (({"options": {"thread": 1}}, OptionError), ({"mode": "fast"}, UserError)):
        torch._dynamo.reset()
        with pytest.raises(Exception) as caught:  # noqa: PT011  dynamo wraps what a backend raises
            torch.compile(torch.exp, backend="cuvil", **settings)(torch.ones(3))
        causes = (caught.value, caught.value.__cause__, getattr(caught.value, "inner_exception", None))
        assert any(isinstance(cause, expected) for cause in causes), caught.value
