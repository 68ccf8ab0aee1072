// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// Operands that the region does not read go, with their access patterns; a kernel that reads all of them stays as it is.
// CHECK: cuvil_fused.kernel @drops(%b = %y) family = loop access = <broadcast> : (tensor<4xf32>) -> (tensor<2x4xf32>)
// CHECK: cuvil_fused.kernel @keeps(%c = %x, %d = %x) family = loop access = <streaming, streaming>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>) {
  %0 = cuvil_fused.kernel @drops(%a = %x, %b = %y) family = loop access = <streaming, broadcast>
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>) {
    %r = cuvil_tensor.broadcast %b axes = [1] : tensor<4xf32> -> tensor<2x4xf32>
    cuvil_fused.yield %r : tensor<2x4xf32>
  }
  %1 = cuvil_fused.kernel @keeps(%c = %x, %d = %x) family = loop access = <streaming, streaming>
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
    %r = cuvil_tensor.binary sub %c, %d : tensor<4xf32>
    cuvil_fused.yield %r : tensor<4xf32>
  }
  func.return %0, %1 : tensor<2x4xf32>, tensor<4xf32>
}
