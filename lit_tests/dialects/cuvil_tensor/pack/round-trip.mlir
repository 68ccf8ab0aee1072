// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// Dims cut into tiles laid innermost. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<64x40xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.pack %{{.*}} axes = [1] tiles = [16] input_order = [1, 0] : tensor<64x40xf32> -> tensor<3x64x16xf32>
  %0 = cuvil_tensor.pack %x axes = [1] tiles = [16] input_order = [1, 0] : tensor<64x40xf32> -> tensor<3x64x16xf32>
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.pack %{{.*}} axes = [1, 0] tiles = [16, 4] input_order = [0, 1] : tensor<64x40xf32> -> tensor<16x3x16x4xf32>
  %1 = cuvil_tensor.pack %x axes = [1, 0] tiles = [16, 4] input_order = [0, 1] : tensor<64x40xf32> -> tensor<16x3x16x4xf32>
  func.return
}
