// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// Composites in branches and in initializers of globals are taken apart too.

// CHECK-NOT: cuvil_tensor.silu
cuvil_tensor.global @w : tensor<4xf32>
cuvil_tensor.global @v : tensor<4xf32> {
  %0 = cuvil_tensor.parameter @w : tensor<4xf32>
  %1 = cuvil_tensor.silu %0 : tensor<4xf32> -> tensor<4xf32>
  cuvil_tensor.init_yield %1 : tensor<4xf32>
}
func.func @main(%c: i1) -> tensor<4xf32> {
  %v = cuvil_tensor.parameter @v : tensor<4xf32>
  %0 = scf.if %c -> (tensor<4xf32>) {
    %1 = cuvil_tensor.silu %v : tensor<4xf32> -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %v : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
