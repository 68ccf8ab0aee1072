// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py --dump-pass-pipeline --test-options='size=3 ratio=1e-3 verbose label="two words" tiles=1,2 mode=exact limit=7' 2>%t.first
// RUN: filecheck %s --input-file=%t.first
// Options of every type, with defaults left out.

// CHECK: builtin.module(test-options{size=3 ratio=0.001 verbose=true label="two words" tiles=1,2 mode=exact limit=7})
