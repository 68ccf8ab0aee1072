// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py --test-options 2>&1 | filecheck %s
// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py --test-options='size=1 mode=slow' 2>&1 | filecheck %s --check-prefix=MODE
// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py --test-options='size=1 tiles=1,x' 2>&1 | filecheck %s --check-prefix=TILES
// RUN: not cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py --test-options='size=1 limit=1.5' 2>&1 | filecheck %s --check-prefix=LIMIT
// CHECK: pass-pipeline:1:1: error: pass 'test-options' requires option 'size'
// MODE: error: option 'mode' of pass 'test-options' expects fast | exact, got 'slow'
// TILES: error: option 'tiles' of pass 'test-options' expects list of int, got '1,x'
// LIMIT: error: option 'limit' of pass 'test-options' expects int | none, got '1.5'
