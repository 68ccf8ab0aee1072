// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// Tensors leave an if through buffers, scalars still as results.
// CHECK: %n = scf.if %c -> (index) {
// CHECK-NEXT: cuvil_fused.copy %x, %out0
// CHECK-NEXT: scf.yield %i : index
// CHECK: } else {
// CHECK-NEXT: cuvil_fused.copy %y, %out0
// CHECK-NEXT: scf.yield %j : index
// CHECK: func.return %n : index
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1, %i: index, %j: index) -> (tensor<4xf32>, index) {
  %0, %n = scf.if %c -> (tensor<4xf32>, index) {
    scf.yield %x, %i : tensor<4xf32>, index
  } else {
    scf.yield %y, %j : tensor<4xf32>, index
  }
  func.return %0, %n : tensor<4xf32>, index
}
