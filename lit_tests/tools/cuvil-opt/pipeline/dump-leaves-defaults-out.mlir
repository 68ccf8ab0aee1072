// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py --dump-pass-pipeline --test-options='size=0x10 ratio=0.5 tiles=8,4' 2>&1 | filecheck %s
// CHECK: builtin.module(test-options{size=16})
