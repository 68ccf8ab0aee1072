// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print | filecheck %s
// RUN: cuvil-run %s --random --compare --json --no-print | filecheck %s --check-prefix=JSON
// Results after a pipeline against those of the module as it was written.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.softmax %x axis = 0 : tensor<4xf32> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK: comparison 0 agrees exactly
// JSON: {"comparison": [{"agrees": true, "max_error": 0.0, "relative_norm": 0.0}]}
