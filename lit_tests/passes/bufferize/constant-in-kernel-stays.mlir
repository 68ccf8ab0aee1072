// RUN: cuvil-opt %s -p bufferize | filecheck %s
// A constant inside a kernel is the kernel's business.
// CHECK-NOT: cuvil_tensor.global
// CHECK: cuvil_fused.kernel
// CHECK-NEXT: cuvil_tensor.constant
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_fused.kernel @k(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
    %c = cuvil_tensor.constant dense<1.0> : tensor<4xf32>
    %y = cuvil_tensor.binary add %a, %c : tensor<4xf32>
    cuvil_fused.yield %y : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
