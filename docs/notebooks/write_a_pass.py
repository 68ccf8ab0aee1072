# %% [markdown]
# # A pass on a real model
#
# BERT asks each attention's input three times: for queries, for keys and for values. One matrix product three times as
# wide does the same with a third of the passes over the input. This notebook writes that as a pass, puts it into the
# default pipeline, watches it, and runs the result natively.
#
# It runs as it stands: `python docs/notebooks/write_a_pass.py`. Set `CUVIL_NOTEBOOK_SIZE=full` for BERT-base itself.

# %%
from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from transformers import BertConfig, BertModel
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

import cuvil
from cuvil.dialects import tensor as ct
from cuvil.errors import ValidationError
from cuvil.instrument import PassStatistics, PrintIR, Snapshots, Timing, Validate, VerifyEach, remarks, statistics

if os.environ.get("CUVIL_NOTEBOOK_SIZE") == "full":
    config = BertConfig()
else:
    config = BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=100
    )
torch.manual_seed(0)
model = BertModel(config, add_pooling_layer=False).eval()
tokens = torch.randint(0, config.vocab_size, (1, 16))

# %% [markdown]
# ## The model as text
#
# `cuvil.trace` gives the model as `cuvil_tensor`. Weights are named, not printed; their values are in
# `imported.parameters`. The text parses back, so that it can be kept in a file and edited.

# %%
imported = cuvil.trace(model, (tokens,))
print("\n".join(line for line in str(imported).splitlines() if "cuvil_tensor.linear" in line))

# %% [markdown]
# ## The pass
#
# A pattern rewrites one operation; the pass walks the module with it. `tolerance` states how far results may move: the
# columns are added up in another order, perhaps. A pass without it must keep every bit.


# %%
class MergeSharedInput(RewritePattern):
    """linear(x, a), linear(x, b) => slices of linear(x, concat(a, b))."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ct.LinearOp, rewriter: PatternRewriter) -> None:
        users = [use.operation for use in op.input.uses]
        group = [user for user in users if isinstance(user, ct.LinearOp) and user.bias is not None]
        if len(group) < 2 or op not in group or any(user.parent is not op.parent for user in group):
            return
        weight = ct.ConcatOp([each.weight for each in group], 0)
        bias = ct.ConcatOp([each.bias for each in group if each.bias is not None], 0)
        merged = ct.LinearOp(op.input, weight, bias)
        rewriter.insert([weight, bias, merged])
        first = 0
        for each in group:
            *rows, columns = ct.shape_of(each.result.type)
            assert isinstance(columns, int), "a weight's sizes are known"
            part = ct.SliceOp(merged, [0] * len(rows) + [first], [*rows, columns])
            rewriter.insert(part)
            rewriter.replace_all_uses_with(each.result, part.result)
            rewriter.erase(each)
            first += columns
        statistics.count("merge-linears", "merged", len(group))
        remarks.emit("passed", pass_name="merge-linears", op=merged, message=f"{len(group)} linears share an input")


@cuvil.register_pass
@dataclass(frozen=True)
class MergeLinearsPass(ModulePass):
    """Linears of one input become one linear."""

    name: ClassVar[str] = "merge-linears"
    tolerance: ClassVar[float] = 1e-5

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(MergeSharedInput()).rewrite_module(op)


# %% [markdown]
# ## Run it
#
# A pipeline is text, passes, or both. `insert_before` places the pass by name in the default pipeline of the CPU, where
# linears are still whole; `before("bufferize")` stops at the kernels. Instruments wrap every pass.

# %%
pipeline = cuvil.Pipeline.of("cpu").insert_before("decompose", "merge-linears")
print(pipeline)

folder = Path(tempfile.mkdtemp())
timing, counters = Timing(), PassStatistics()
dump = open(folder / "dump.mlir", "w+", encoding="utf-8")
instruments = [
    VerifyEach(),
    Validate(),
    timing,
    counters,
    Snapshots(str(folder)),
    PrintIR(after=frozenset({"merge-linears"}), stream=dump),
]
with remarks.collect() as said:
    cuvil.PassManager(pipeline.before("bufferize"), instruments).run(imported.module)

print(timing.report())
print(counters.report())
print("\n".join(remark.text for remark in said if remark.pass_name == "merge-linears"))
print(*sorted(path.name for path in folder.iterdir()))

# %% [markdown]
# ## Read it
#
# Every snapshot is a file that `cuvil-opt` reads; the pass manager runs pipelines on text as well. The concatenated
# weights are computed once: `hoist-parameters` has made globals of them.

# %%
dump.seek(0)
print("\n".join(line for line in dump.read().splitlines() if "linear" in line or "concat" in line))
print("\n".join(line for line in str(imported).splitlines() if "cuvil_tensor.global" in line and "{" in line))

text = (folder / "00-input.mlir").read_text(encoding="utf-8")
print(cuvil.run_on_text("merge-linears,cse,dce", text).count("cuvil_tensor.linear"), "linears are left")

# %% [markdown]
# ## Run it natively
#
# The same pipeline, down to machine code.

# %%
compiled = cuvil.compile(model, (tokens,), pipeline=pipeline)
with torch.no_grad():
    expected = model(tokens).last_hidden_state
result = compiled(tokens).last_hidden_state
error = float((result - expected).norm() / expected.norm())
print(f"relative error against eager PyTorch: {error:.1e}")
assert error < 1e-5

# %% [markdown]
# ## A pass that is wrong
#
# Validation runs the module before and after every pass on the same random inputs. Here is one that loses a bias.


# %%
class ForgetBiasPass(ModulePass):
    """Linears without their bias: wrong, and found out."""

    name = "forget-bias"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for linear in [each for each in op.walk() if isinstance(each, ct.LinearOp)]:
            Rewriter.replace_op(linear, ct.LinearOp(linear.input, linear.weight))


try:
    cuvil.PassManager(ForgetBiasPass(), [Validate()]).run_on_text(text)
except ValidationError as found:
    print(found.message)
else:
    raise RuntimeError("the wrong pass was not found out")

# %%
dump.close()
cuvil.unregister_pass("merge-linears")
