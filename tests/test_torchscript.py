"""TorchScript: scripted, traced and loaded modules and functions against what the script gives."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any, Dict, List, Optional, Tuple  # noqa: UP035  what TorchScript reads

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import cuvil
from benchmarks import models
from cuvil.frontends import torchscript
from cuvil.frontends.torchscript_check import ScriptMismatchError
from tests.cases import Cases

UP, DOWN = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([-1.0, -2.0, 0.5])
BROKEN = torch.tensor([1.0, float("nan"), 2.0])
CASES = Cases()
"""Functions to be scripted, and arguments that take each of their ways."""
case = CASES.add


def scripted(model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(model)


def traced(model: Any, inputs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(model, inputs, check_trace=False)


# fmt: off
@case((UP,), (DOWN,), (BROKEN,))
def branch(x: Tensor, threshold: float = 0.5):
    if x.mean() > threshold:
        return torch.relu(x)
    elif x.sum() > -1.0 or bool(x.isnan().any()):
        x = x + 1
    else:
        x = -x
    return torch.sigmoid(x)


@case((UP,), (DOWN,), (UP * 100,))
def loops(x: Tensor):
    count = 0
    while x.abs().max() < 100:
        x = x * 2
        count += 1
        if count > 5:
            break
    total = torch.zeros_like(x)
    for i in range(4):
        if i == 2:
            continue
        total += x * i
    return x, total, count


@case((UP, 3), (DOWN, 3), (UP * 9, 3))
def leaves_early(x: Tensor, n: int):
    for i in range(n):
        if x.sum() > 20 * i:
            return x * i
        x = x + 1
    while x.max() < 50:
        x = x * 3
        if x.min() < -30:
            return x - 1
    return -x


@case((torch.tensor(5), UP), (torch.tensor(0), UP))
def range_of_a_tensor(n: Tensor, x: Tensor):
    for i in range(int(n)):
        x = x * 0.5 + i
    return x


@case((UP,), (DOWN,))
def containers(x: Tensor) -> Tuple[List[Tensor], Dict[str, Tensor], int]:  # noqa: UP006
    xs = [x, x + 1]
    held: Dict[str, Tensor] = {"a": x}  # noqa: UP006
    for i in range(3):
        xs.append(x * i)
    held["b"] = torch.stack(xs).sum(0)
    if x.sum() > 0:
        xs[0] = x * 10
    first, second = xs[0], xs[-1]
    held["c"] = first + second
    for key in held.keys():
        xs.append(held[key])
    return xs, held, len(xs)


@case((UP, None), (UP, DOWN))
def optional(x: Tensor, bias: Optional[Tensor] = None):  # noqa: UP045
    if bias is not None:
        x = x + bias
    return x


@case((UP,), (DOWN,))
def changes_in_place(x: Tensor):
    y = x.clone()
    y[0] = 5.0
    y[1:] += x[1:]
    z = y.view(3, 1)
    z.mul_(2)
    if x.sum() > 0:
        y.add_(1)
    return y, z


@case((UP,), (DOWN,))
def numbers(x: Tensor):
    n = int(x[0]) + 4
    total = float(x.sum()) / 2
    size = x.size(0) // 2 + x.numel()
    kind = torch.float64 if x.dim() == 1 else torch.float32
    if n > 3 and total > 1.0:
        total = total * 2
    return x * n + total, n, size, torch.full([size], 2, dtype=kind), x.to(torch.int32), x * -n


@case((torch.arange(24.0).reshape(2, 3, 4),), (-torch.arange(24.0).reshape(2, 3, 4),))
def shapes(x: Tensor):
    batch, rest = x.shape[0], x.shape[1:]
    y = x.view(batch, -1)[:, 1::2].transpose(0, 1).contiguous()
    parts = x.chunk(2, dim=2)
    a, b = parts
    assert batch == 2, f"batch is {batch}"
    return y, torch.cat([a, b], 1), x.permute(2, 0, 1).flatten(1), torch.zeros(rest) + x.mean(0), F.pad(x, [1, 1])


@case((UP, torch.tensor(1)), (DOWN, torch.tensor(2)))
def picked(x: Tensor, i: Tensor):
    return x[int(i)] * 2, torch.where(x > 0, x, i), x.max(0)
# fmt: on


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_scripted_functions(function: Callable[..., Any], calls: list[tuple[Any, ...]], target: str) -> None:
    script = scripted(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what torch says of TorchScript is said to who scripts
        compiled = cuvil.compile(script, calls[0], target=target)
        for arguments in calls:
            torch.testing.assert_close(compiled(*arguments), script(*arguments), equal_nan=True)
    assert function.__name__ in str(cuvil.explain(compiled))


class Net(nn.Module):
    """Convolutions, norms, in-place activations, a branch and a loop over layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.register_buffer("limit", torch.tensor(0.1))
        self.scale = 2.0

    def forward(self, x: Tensor, flag: bool = True) -> Tensor:
        x = F.relu(self.norm(self.conv(x)), inplace=True)
        x = F.max_pool2d(x, 2).mean([2, 3])
        for layer in self.layers:
            x = x + layer(x)
        if flag:
            x = F.dropout(x, 0.5, self.training) * self.scale
        if x.sum() > self.limit:
            x = x.softmax(-1)
        return x


@pytest.fixture(scope="module")
def net() -> Net:
    torch.manual_seed(0)
    return Net().eval()


def test_scripted_module(net: Net) -> None:
    script = scripted(net)
    x = torch.randn(2, 3, 8, 8)
    compiled = cuvil.compile(script, (x,))
    for given in (x, -x, x * 5):
        torch.testing.assert_close(compiled(given), script(given), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(compiled(x, flag=False), script(x, flag=False), rtol=1e-4, atol=1e-5)
    text = str(compiled.specializations[0].compiled.text())
    assert "@conv.weight" in text
    assert "scf.if" in text


@pytest.mark.parametrize("form", ["frozen", "saved", "traced"])
def test_forms_of_a_module(net: Net, form: str) -> None:
    x = torch.randn(2, 3, 8, 8)
    script = traced(net, x) if form == "traced" else scripted(net)
    if form == "frozen":
        script = torch.jit.freeze(script)
    if form == "saved":
        file = io.BytesIO()
        torch.jit.save(script, file)
        file.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script = torch.jit.load(file)
    compiled = cuvil.compile(script, (x,))
    torch.testing.assert_close(compiled(x), script(x), rtol=1e-4, atol=1e-5)


def reshaped(x: Tensor) -> Tensor:
    return x.view(x.size(0), -1)[:, : x.size(1) // 2] * x.shape[0] + torch.arange(x.size(1) // 2)


def test_sizes_in_traced_graphs() -> None:
    x = torch.randn(2, 4)
    compiled = cuvil.compile(traced(reshaped, (x,)), (x,))
    torch.testing.assert_close(compiled(x), reshaped(x))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.recurrent = nn.LSTM(16, 8, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.recurrent(self.encoder(x))[0]


@pytest.mark.parametrize(
    "make", [scripted, lambda model: traced(model, torch.zeros(2, 5, 16))], ids=["script", "trace"]
)
def test_transformers_and_recurrent_layers(make: Callable[[Any], Any]) -> None:
    torch.manual_seed(0)
    model = Encoder().eval()
    x = torch.randn(2, 5, 16)
    script = make(model)
    with torch.no_grad():
        compiled = cuvil.compile(script, (x,))
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["mobilenet_v2", "bert_base", "llama"])
def test_traced_models_of_the_zoo(name: str) -> None:
    model, inputs = next(each for each in models.MODELS.values() if each.name == name).load(tiny=True)
    compiled = cuvil.compile(traced(model, inputs), inputs)
    with torch.no_grad():
        torch.testing.assert_close(compiled(*inputs), model(*inputs), rtol=1e-3, atol=1e-4)


def test_scripts_in_functions_that_are_read(net: Net) -> None:
    script, inner = scripted(net), scripted(branch)

    @cuvil.compile
    def function(x: Tensor) -> Tensor:
        return inner(script(x))

    x = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(function(x), inner(script(x)), rtol=1e-4, atol=1e-5)


def test_arguments_that_scripts_change() -> None:
    def changes(x: Tensor) -> Tensor:
        x.add_(1)
        return x * 2

    script = scripted(changes)
    compiled = cuvil.compile(script, (UP.clone(),))
    x = UP.clone()
    torch.testing.assert_close(compiled(x), (UP + 1) * 2)
    torch.testing.assert_close(x, UP + 1)


def raises(x: Tensor) -> Tensor:
    y = x * 2
    assert x.sum() > 0, "not positive"
    return y


def unknown_size(x: Tensor) -> Tensor:
    return x[x > 1] * 2


def grows(x: Tensor) -> List[Tensor]:  # noqa: UP006
    xs = [x]
    while x.sum() < 10:
        x = x * 2
        xs.append(x)
    return xs


@pytest.mark.parametrize(
    ("function", "message"),
    [(raises, "raises where tensors say so"), (unknown_size, "depends on the values"), (grows, "a list grows")],
)
def test_what_cannot_be_read_is_at_its_place(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(cuvil.CuvilError) as caught:
        cuvil.compile(scripted(function), (UP,))
    error = caught.value
    assert message in str(error)
    assert error.location is not None
    assert error.location.file == __file__


def test_a_script_that_raises_raises() -> None:
    def checked(x: Tensor, n: int) -> Tensor:
        if n < 0:
            raise ValueError("n is negative")
        return x * n

    with pytest.raises(RuntimeError, match="n is negative"):
        cuvil.compile(scripted(checked))(UP, -1)


def test_a_mismatch_names_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    script = scripted(changes_in_place)
    monkeypatch.setattr(torchscript.Script, "read", lambda *_: (UP * 2, UP * 3))
    with pytest.raises(ScriptMismatchError, match="result 0 is not what the script gives"):
        cuvil.compile(script, (UP,))
