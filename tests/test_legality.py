"""The legality table: each stage refuses what it should have removed, at the op, and accepts what the pipeline
gives."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from cuvil.errors import VerificationError
from cuvil.ir_text import parse_module
from cuvil.pass_manager import PassManager
from cuvil.pipeline import TARGET_STAGES
from cuvil.targets.legality import LEGAL, verify_stage
from cuvil.universe import make_context

PROGRAM = """
cuvil_tensor.global @w : tensor<8x4xf32>
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %w = cuvil_tensor.parameter @w : tensor<8x4xf32>
  %0 = cuvil_tensor.linear %x, %w : tensor<2x4xf32>, tensor<8x4xf32> -> tensor<2x8xf32>
  %1 = cuvil_tensor.softmax %0 axis = 1 : tensor<2x8xf32> -> tensor<2x8xf32>
  func.return %1 : tensor<2x8xf32>
}
"""


def program() -> ModuleOp:
    return parse_module(make_context(), PROGRAM)


def test_every_stage_of_the_pipeline_has_a_row() -> None:
    assert [stage.name for stage in TARGET_STAGES["cpu"]] == list(LEGAL)


def test_the_default_pipeline_is_legal_after_each_stage() -> None:
    module = program()
    for stage in TARGET_STAGES["cpu"]:
        PassManager(stage.passes).run(module)
        verify_stage(module, stage.name)


@pytest.mark.parametrize(
    ("stage", "offender"),
    [
        ("normalize", "cuvil_tensor.linear"),
        ("fuse", "cuvil_tensor.linear"),
        ("memory", "cuvil_tensor.parameter"),
        ("loops", "cuvil_tensor.global"),
        ("llvm", "cuvil_tensor.global"),
    ],
)
def test_a_stage_refuses_what_it_should_have_removed(stage: str, offender: str) -> None:
    with pytest.raises(VerificationError, match=f"{offender}: is not legal after stage '{stage}'"):
        verify_stage(program(), stage)
