// RUN: cuvil-opt %s -p canonicalize | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --tolerance 0 --pipeline canonicalize
// attention whose keys and values repeat each head => grouped heads.
// Heads that are tiled (0, 1, 0, 1) are not repeated.
// CHECK-LABEL: func.func @main
// CHECK: %a = cuvil_tensor.attention %q, %k, %v
// CHECK: %b = cuvil_tensor.attention %q, %t2, %t2
func.func @main(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>) -> (tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>) {
  %k1 = cuvil_tensor.broadcast %k axes = [0, 1, 3, 4] : tensor<1x2x5x8xf32> -> tensor<1x2x2x5x8xf32>
  %k2 = cuvil_tensor.reshape %k1 : tensor<1x2x2x5x8xf32> -> tensor<1x4x5x8xf32>
  %v1 = cuvil_tensor.broadcast %v axes = [0, 1, 3, 4] : tensor<1x2x5x8xf32> -> tensor<1x2x2x5x8xf32>
  %v2 = cuvil_tensor.reshape %v1 : tensor<1x2x2x5x8xf32> -> tensor<1x4x5x8xf32>
  %a = cuvil_tensor.attention %q, %k2, %v2 scale = 0.5 : tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32> -> tensor<1x4x5x8xf32>
  %t1 = cuvil_tensor.broadcast %k axes = [0, 2, 3, 4] : tensor<1x2x5x8xf32> -> tensor<1x2x2x5x8xf32>
  %t2 = cuvil_tensor.reshape %t1 : tensor<1x2x2x5x8xf32> -> tensor<1x4x5x8xf32>
  %b = cuvil_tensor.attention %q, %t2, %t2 scale = 0.5 : tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32> -> tensor<1x4x5x8xf32>
  func.return %a, %b : tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>
}
