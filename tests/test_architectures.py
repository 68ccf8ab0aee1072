"""A part of `python -m benchmarks.architectures`: an architecture of each kind through a door, and the judgement."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import torch

from benchmarks.architectures.check import MATCHED, WRONG, Tolerance, check, judged
from benchmarks.architectures.report import DOCUMENT, JSON, as_markdown, left_ops
from benchmarks.architectures.table import ARCHITECTURES, IN_BFLOAT16, KINDS

TOLERANCE = Tolerance(3.0, 1e-6)
EXPORTED = ("mpnet", "mixtral", "t5", "segformer", "hubert", "blip")
"""Biases by position, experts, an encoder with a decoder, convolutions, sound, two towers."""
BY_DYNAMO = ("funnel", "gemma2", "bart", "swin", "wavlm", "clip")


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_model_matches_eager(name: str) -> None:
    verdict = check(ARCHITECTURES[name], "export")
    assert verdict.verdict == MATCHED, verdict.reason


@pytest.mark.parametrize("name", BY_DYNAMO)
def test_model_of_torch_compile_matches_eager(name: str) -> None:
    verdict = check(ARCHITECTURES[name], "torch_compile")
    assert verdict.verdict == MATCHED, verdict.reason
    assert not left_ops(verdict.as_json())


def test_model_in_bfloat16_matches_eager() -> None:
    verdict = check(ARCHITECTURES["llama"], "export", torch.bfloat16)
    assert verdict.verdict == MATCHED, verdict.reason


def test_there_are_sixty_and_all_are_of_transformers() -> None:
    import transformers

    assert len(ARCHITECTURES) == sum(len(kind) for kind in KINDS.values()) >= 60
    assert set(IN_BFLOAT16) <= set(ARCHITECTURES)
    missing = [each.network for each in ARCHITECTURES.values() if not hasattr(transformers, each.network)]
    assert not missing


def test_wrong_outputs_are_told_from_right_ones() -> None:
    exact = torch.randn(100, dtype=torch.float64)
    eager = exact.float() * (1 + 1e-6)
    nan = eager.clone()
    nan[3] = torch.nan

    def verdict(actual: torch.Tensor, eager: torch.Tensor = eager) -> str:
        return judged([actual], [eager], [exact], TOLERANCE).verdict

    assert verdict(eager * (1 + 1e-6)) == MATCHED
    assert verdict(eager * (1 + 1e-5)) == WRONG
    assert verdict(eager.double()) == WRONG
    assert verdict(eager[:99]) == WRONG
    assert verdict(nan) == WRONG
    assert verdict(eager, nan) == WRONG
    assert judged([], [eager], [exact], TOLERANCE).verdict == WRONG
    places = torch.arange(3)
    assert judged([places], [places], [places], TOLERANCE).verdict == MATCHED
    assert judged([places + 1], [places], [places], TOLERANCE).verdict == WRONG


def test_page_of_the_docs_shows_the_results() -> None:
    results = json.loads(JSON.read_text())
    assert {row["name"] for row in results["results"]} == set(ARCHITECTURES)
    assert DOCUMENT.read_text() == as_markdown(results["results"])
    assert not [row["name"] for row in results["results"] if row["export"]["verdict"] == WRONG]
