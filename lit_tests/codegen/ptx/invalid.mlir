// RUN: cuvil-opt %s -t 'ptx{arch=sm_80}' --split-input-file --verify-diagnostics
// An architecture's lack of an instruction is told here: LLVM would end the process.

llvm.func @elects() {
  // expected-error @+1 {{nvvm.elect.sync: needs sm_90 or later, got sm_80}}
  %0 = nvvm.elect.sync -> i1
  llvm.return
}

// -----

llvm.func @reads_the_cluster() {
  // expected-error @+1 {{nvvm.read.ptx.sreg.cluster.ctarank: needs sm_90 or later, got sm_80}}
  %0 = nvvm.read.ptx.sreg.cluster.ctarank : i32
  llvm.return
}
