// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// The inverse of pack. Every form prints as it was written; the generic form is checked too.

// CHECK-LABEL: func.func @forms
func.func @forms(%x: tensor<3x64x16xf32>) {
  // CHECK-NEXT: %{{.*}} = cuvil_tensor.unpack %{{.*}} axes = [1] tiles = [16] input_order = [1, 0] : tensor<3x64x16xf32> -> tensor<64x40xf32>
  %0 = cuvil_tensor.unpack %x axes = [1] tiles = [16] input_order = [1, 0] : tensor<3x64x16xf32> -> tensor<64x40xf32>
  func.return
}
