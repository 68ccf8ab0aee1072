// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// A reduction over windows. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<1x4x8x8xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.pool max %{{.*}} input_order = [0, 1, 2, 3] kernel = [3, 3] strides = [2, 2] low = [1, 1] high = [1, 1] dilation = [1, 1] : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  %0 = cuvil_tensor.pool max %x input_order = [0, 1, 2, 3] kernel = [3, 3] strides = [2, 2] low = [1, 1] high = [1, 1] dilation = [1, 1] : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.pool add %{{.*}} input_order = [0, 3, 1, 2] kernel = [2, 2] strides = [2, 2] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x4x8x8xf32> -> tensor<1x2x4x8xf32>
  %1 = cuvil_tensor.pool add %x input_order = [0, 3, 1, 2] kernel = [2, 2] strides = [2, 2] low = [0, 0] high = [0, 0] dilation = [1, 1] : tensor<1x4x8x8xf32> -> tensor<1x2x4x8xf32>
  func.return
}
