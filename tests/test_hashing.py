"""Semantic hashes: what they must not depend on, and what they must."""

from __future__ import annotations

import subprocess
import sys

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp

from cuvil.dialects.tensor import UnaryOp
from cuvil.ir_text import parse_module
from cuvil.semantics.hashing import SemanticHasher, semantic_hash
from cuvil.universe import make_context
from tests.counted_calls import calls_of


def parse(text: str) -> ModuleOp:
    module = parse_module(make_context(), text)
    module.verify()
    return module


def function(body: str, name: str = "main", arguments: str = "%x: tensor<4xf32>, %y: tensor<4xf32>") -> str:
    return f"func.func @{name}({arguments}) -> tensor<4xf32> {{\n{body}\n}}"


BASE = function("""
  %a = cuvil_tensor.unary exp %x : tensor<4xf32>
  %b = cuvil_tensor.unary tanh %y : tensor<4xf32>
  %c = cuvil_tensor.binary add %a, %b : tensor<4xf32>
  %d = cuvil_tensor.binary sub %c, %a : tensor<4xf32>
  func.return %d : tensor<4xf32>
""")


def hash_of(text: str, name: str = "main") -> str:
    return SemanticHasher(parse(text)).function_hash(name)


@pytest.mark.parametrize(
    "same",
    [
        BASE.replace("%a", "%first").replace("%d", "%result"),
        BASE.replace("%a, %b : ", "%b, %a : "),
        BASE.replace("func.return", "%dead = cuvil_tensor.unary sin %x : tensor<4xf32>\n func.return"),
        BASE.replace("tanh %y : tensor<4xf32>", 'tanh %y : tensor<4xf32> loc("model.py":1:2)'),
        function("""
          %b = cuvil_tensor.unary tanh %y : tensor<4xf32>
          %a = cuvil_tensor.unary exp %x : tensor<4xf32>
          %c = cuvil_tensor.binary add %a, %b : tensor<4xf32>
          %d = cuvil_tensor.binary sub %c, %a : tensor<4xf32>
          func.return %d : tensor<4xf32>
        """),
    ],
    ids=["names", "commuted", "unused", "location", "reordered"],
)
def test_what_does_not_matter(same: str) -> None:
    assert hash_of(same) == hash_of(BASE)
    assert semantic_hash(parse(same)) == semantic_hash(parse(BASE))


@pytest.mark.parametrize(
    "other",
    [
        BASE.replace("exp", "exp2"),
        BASE.replace("sub %c, %a", "sub %a, %c"),
        BASE.replace("tanh %y", "tanh %x"),
        BASE.replace("tensor<4xf32>", "tensor<5xf32>"),
        BASE.replace("tensor<4xf32>", "tensor<4xf64>"),
        BASE.replace("%x: tensor<4xf32>, %y: tensor<4xf32>", "%y: tensor<4xf32>, %x: tensor<4xf32>"),
        BASE.replace("func.return %d", "func.return %c"),
    ],
    ids=["kind", "operand-order", "operand", "shape", "element-type", "argument-order", "returned"],
)
def test_what_matters(other: str) -> None:
    assert hash_of(other) != hash_of(BASE)
    assert semantic_hash(parse(other)) != semantic_hash(parse(BASE))


def test_attributes_and_constants_matter() -> None:
    texts = [
        function(f"%c = cuvil_tensor.constant dense<{value}> : tensor<4xf32>\n func.return %c : tensor<4xf32>")
        for value in ("1.0", "2.0", "[1.0, 1.0, 1.0, 2.0]")
    ]
    texts += [
        function(f"%c = cuvil_tensor.softmax %x axis = {axis} : tensor<4x4xf32> -> tensor<4x4xf32>\n"
                 "%d = cuvil_tensor.reduce add %c axes = [0] : tensor<4x4xf32> -> tensor<4xf32>\n"
                 "func.return %d : tensor<4xf32>", arguments="%x: tensor<4x4xf32>")
        for axis in (0, 1)
    ]  # fmt: skip
    assert len({hash_of(text) for text in texts}) == len(texts)


def test_a_splat_is_the_same_however_it_is_written() -> None:
    one, other = (
        function(f"%c = cuvil_tensor.constant dense<{value}> : tensor<4xf32>\n func.return %c : tensor<4xf32>")
        for value in ("1.0", "[1.0, 1.0, 1.0, 1.0]")
    )
    assert hash_of(one) == hash_of(other)


def test_a_functions_name_matters_to_the_module_only() -> None:
    other = BASE.replace("@main", "@other")
    assert hash_of(other, "other") == hash_of(BASE)
    assert semantic_hash(parse(other)) != semantic_hash(parse(BASE))


def test_the_order_of_functions_does_not_matter() -> None:
    callee = BASE.replace("@main", "@callee")
    caller = function("""
      %a = func.call @callee(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %a : tensor<4xf32>
    """)
    assert semantic_hash(parse(callee + caller)) == semantic_hash(parse(caller + callee))
    changed = callee.replace("exp", "exp2")
    assert hash_of(caller + callee) != hash_of(caller + changed)


def test_globals_are_known_by_name_or_by_how_they_are_computed() -> None:
    def module(weight: str, computed: str, kind: str) -> str:
        return f"""
          cuvil_tensor.global @{weight} : tensor<4xf32>
          cuvil_tensor.global @{computed} : tensor<4xf32> {{
            %0 = cuvil_tensor.parameter @{weight} : tensor<4xf32>
            %1 = cuvil_tensor.unary {kind} %0 : tensor<4xf32>
            cuvil_tensor.init_yield %1 : tensor<4xf32>
          }}
          {function(f"%0 = cuvil_tensor.parameter @{computed} : tensor<4xf32> func.return %0 : tensor<4xf32>")}
        """

    base = hash_of(module("w", "c", "exp"))
    assert hash_of(module("w", "renamed", "exp")) == base
    assert hash_of(module("v", "c", "exp")) != base
    assert hash_of(module("w", "c", "tanh")) != base


def test_regions_and_what_they_capture() -> None:
    def branch(first: str, second: str) -> str:
        return function(f"""
          %r = scf.if %c -> (tensor<4xf32>) {{
            %a = cuvil_tensor.unary {first} %x : tensor<4xf32>
            scf.yield %a : tensor<4xf32>
          }} else {{
            %a = cuvil_tensor.unary {second} %x : tensor<4xf32>
            scf.yield %a : tensor<4xf32>
          }}
          func.return %r : tensor<4xf32>
        """, arguments="%x: tensor<4xf32>, %c: i1")  # fmt: skip

    assert hash_of(branch("exp", "tanh")) != hash_of(branch("tanh", "exp"))
    assert hash_of(branch("exp", "tanh")) == hash_of(branch("exp", "tanh").replace("%a", "%b"))


def test_two_buffers_are_not_one() -> None:
    def copies(source: str) -> str:
        return f"""func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) {{
          %a = cuvil_fused.alloc : memref<4xf32>
          %b = cuvil_fused.alloc : memref<4xf32>
          cuvil_fused.copy %x, %a : memref<4xf32>, memref<4xf32>
          cuvil_fused.copy {source}, %out : memref<4xf32>, memref<4xf32>
          func.return
        }}"""

    assert hash_of(copies("%a")) != hash_of(copies("%b"))


def test_kernel_names_do_not_matter() -> None:
    def kernel(name: str, kind: str) -> str:
        return function(f"""
          %0 = cuvil_fused.kernel @{name}(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {{
            %1 = cuvil_tensor.unary {kind} %a : tensor<4xf32>
            cuvil_fused.yield %1 : tensor<4xf32>
          }}
          func.return %0 : tensor<4xf32>""")

    assert hash_of(kernel("k", "exp")) == hash_of(kernel("other", "exp"))
    assert hash_of(kernel("k", "exp")) != hash_of(kernel("k", "tanh"))


def test_operations_have_hashes() -> None:
    module = parse(BASE)
    hasher = SemanticHasher(module)
    ops = [op for op in module.walk() if op.name.startswith("cuvil_tensor")]
    hashes = [hasher.operation_hash(op) for op in ops]
    assert len(set(hashes)) == len(ops)
    twins = parse(BASE.replace("tanh %y", "exp %x"))
    first, second, *_ = (op for op in twins.walk() if op.name.startswith("cuvil_tensor"))
    twin_hasher = SemanticHasher(twins)
    assert twin_hasher.operation_hash(first) == twin_hasher.operation_hash(second) == hashes[0]


def test_hashes_are_the_same_in_every_process() -> None:
    code = "import sys; from tests.test_hashing import *; print(semantic_hash(parse(BASE)))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {semantic_hash(parse(BASE))}


def test_work_is_linear() -> None:
    def calls(count: int) -> int:
        made = FuncOp("main", ([TensorType(f32, [4])], [TensorType(f32, [4])]))
        value = made.body.block.args[0]
        for _ in range(count):
            op = UnaryOp("exp", value)
            made.body.block.add_op(op)
            value = op.result
        made.body.block.add_op(ReturnOp(value))
        module = ModuleOp([made])
        return calls_of(lambda: semantic_hash(module))

    calls(10)  # imports
    assert calls(4000) < 9 * calls(500)
