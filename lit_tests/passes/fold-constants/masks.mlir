// RUN: cuvil-opt %s -p fold-constants | filecheck %s
// RUN: cuvil-run %s --random --no-print --compare --pipeline fold-constants --tolerance 1e-6
// A mask of positions that hides what is after the query is `causal`; one that hides nothing goes; any other stays.
// CHECK: cuvil_tensor.attention %q, %q, %q causal scale
// CHECK: cuvil_tensor.attention %q, %q, %q scale
// CHECK: cuvil_tensor.attention %q, %q, %q mask = %{{.*}} scale
// CHECK: cuvil_tensor.attention %q, %q, %q mask = %m scale
func.func @main(%q: tensor<1x2x4x8xf32>, %m: tensor<1x2x4x4xi1>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) {
  %row = cuvil_tensor.iota axis = 0 : tensor<4x4xi64>
  %column = cuvil_tensor.iota axis = 1 : tensor<4x4xi64>
  %le = cuvil_tensor.binary le %column, %row : tensor<4x4xi64>
  %causal = cuvil_tensor.broadcast %le axes = [2, 3] : tensor<4x4xi1> -> tensor<1x2x4x4xi1>
  %eq = cuvil_tensor.binary eq %row, %row : tensor<4x4xi64>
  %all = cuvil_tensor.broadcast %eq axes = [2, 3] : tensor<4x4xi1> -> tensor<1x2x4x4xi1>
  %lt = cuvil_tensor.binary lt %row, %column : tensor<4x4xi64>
  %after = cuvil_tensor.broadcast %lt axes = [2, 3] : tensor<4x4xi1> -> tensor<1x2x4x4xi1>
  %1 = cuvil_tensor.attention %q, %q, %q mask = %causal scale = 0.5 : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x4xi1> -> tensor<1x2x4x8xf32>
  %2 = cuvil_tensor.attention %q, %q, %q mask = %all scale = 0.5 : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x4xi1> -> tensor<1x2x4x8xf32>
  %3 = cuvil_tensor.attention %q, %q, %q mask = %after scale = 0.5 : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x4xi1> -> tensor<1x2x4x8xf32>
  %4 = cuvil_tensor.attention %q, %q, %q mask = %m scale = 0.5 : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x4xi1> -> tensor<1x2x4x8xf32>
  func.return %1, %2, %3, %4 : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
}
