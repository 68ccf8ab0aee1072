// RUN: cuvil-opt %s -p bufferize | filecheck %s
// The condition stays native control flow on a loaded scalar; the state is in one buffer, scalars are carried as such.
// CHECK: cuvil_fused.copy %x, %out0
// CHECK-NEXT: %count = scf.while (%i = %zero) : (index) -> index {
// CHECK-NEXT:   [[C:%\d+]] = cuvil_fused.alloc : memref<i1>
// CHECK-NEXT:   @is_small(%a = %out0) into([[C]])
// CHECK:        %c = memref.load [[C]][] : memref<i1>
// CHECK-NEXT:   cuvil_fused.free [[C]]
// CHECK-NEXT:   scf.condition(%c) %i : index
// CHECK-NEXT: } do {
// CHECK-NEXT: ^{{.*}}(%j: index):
// CHECK-NEXT:   @step(%a = %out0) into(%out0)
// CHECK:        scf.yield %k : index
// CHECK: func.return %count : index
func.func @main(%x: tensor<f32>) -> (tensor<f32>, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0, %count = scf.while (%s = %x, %i = %zero) : (tensor<f32>, index) -> (tensor<f32>, index) {
    %1 = cuvil_fused.kernel @is_small(%a = %s) family = loop access = <streaming> : (tensor<f32>) -> (tensor<i1>) {
      %limit = cuvil_tensor.constant dense<100.0> : tensor<f32>
      %y = cuvil_tensor.binary lt %a, %limit : tensor<f32>
      cuvil_fused.yield %y : tensor<i1>
    }
    %c = tensor.extract %1[] : tensor<i1>
    scf.condition(%c) %s, %i : tensor<f32>, index
  } do {
  ^bb0(%t: tensor<f32>, %j: index):
    %2 = cuvil_fused.kernel @step(%a = %t) family = loop access = <streaming> : (tensor<f32>) -> (tensor<f32>) {
      %y = cuvil_tensor.binary add %a, %a : tensor<f32>
      cuvil_fused.yield %y : tensor<f32>
    }
    %k = arith.addi %j, %one : index
    scf.yield %2, %k : tensor<f32>, index
  }
  func.return %0, %count : tensor<f32>, index
}
