// RUN: cuvil-opt %s -p dce | filecheck %s
// A kernel on values has no effect: unused, it vanishes.
// CHECK-NOT: cuvil_fused.kernel
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
    cuvil_fused.yield %a : tensor<4xf32>
  }
  func.return %x : tensor<4xf32>
}
