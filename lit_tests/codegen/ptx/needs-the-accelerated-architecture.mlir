// RUN: cuvil-opt %s -t 'ptx{arch=sm_90}' --verify-diagnostics
// Products of a warpgroup belong to sm_90a alone.
llvm.func @products() {
  // expected-error @+1 {{nvvm.wgmma.fence.aligned: needs sm_90a, got sm_90}}
  nvvm.wgmma.fence.aligned
  llvm.return
}
