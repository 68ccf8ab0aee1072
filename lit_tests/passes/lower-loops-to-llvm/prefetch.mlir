// RUN: cuvil-opt %s -p lower-loops-to-llvm | cuvil-opt | filecheck %s
// A hint only: for reading, into the second level, and no load that could fault.
// CHECK-LABEL: llvm.func @ahead
// CHECK-NOT: llvm.load
// CHECK: llvm.call_intrinsic "llvm.prefetch"
func.func @ahead(%w: memref<64xf32>) {
  %i = arith.constant 100 : index
  cuvil_vector.prefetch %w[%i] : memref<64xf32>
  func.return
}
