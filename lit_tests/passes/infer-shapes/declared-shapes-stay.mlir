// RUN: cuvil-opt %s --disable-verify -p infer-shapes | cuvil-opt | filecheck %s
// RUN: cuvil-opt %s --disable-verify -p infer-shapes | cuvil-run - --random --compare --no-print | filecheck %s --check-prefix=SAME
// A slice's sizes are what its type says: they stay, and what reads it follows them. So do an scf.if's types.
// CHECK: cuvil_tensor.slice {{.*}} : tensor<8xf32> -> tensor<3xf32>
// CHECK-NEXT: cuvil_tensor.unary exp %{{.*}} : tensor<3xf32>
// CHECK: scf.if %{{.*}} -> (tensor<3xf32>)
// SAME: comparison 0 agrees
func.func @main(%x: tensor<8xf32>, %c: i1) -> tensor<3xf32> {
  %0 = cuvil_tensor.slice %x starts = [1] steps = [2] : tensor<8xf32> -> tensor<3xf32>
  %1 = "cuvil_tensor.unary"(%0) <{kind = "exp"}> : (tensor<3xf32>) -> tensor<8xf32>
  %2 = scf.if %c -> (tensor<3xf32>) {
    %3 = "cuvil_tensor.unary"(%0) <{kind = "neg"}> : (tensor<3xf32>) -> tensor<8xf32>
    scf.yield %3 : tensor<8xf32>
  } else {
    scf.yield %1 : tensor<8xf32>
  }
  func.return %2 : tensor<3xf32>
}
