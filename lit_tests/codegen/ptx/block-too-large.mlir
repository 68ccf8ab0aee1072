// RUN: not cuvil-opt %s -t ptx 2>&1 | filecheck %s
// CHECK: error: llvm.func: @wide: expected at most 1024 threads in a block of sm_90a, got 2048
llvm.func @wide() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1024, 2, 1>} {
  llvm.return
}
