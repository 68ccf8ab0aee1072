// RUN: not cuvil-opt %s -t 'ptx{arch=sm_12}' 2>&1 | filecheck %s
// CHECK: error: unknown gpu architecture 'sm_12': expected one of sm_80, sm_86, sm_89, sm_90, sm_90a
llvm.func @nothing() {
  llvm.return
}
