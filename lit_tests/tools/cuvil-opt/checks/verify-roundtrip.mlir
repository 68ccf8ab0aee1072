// RUN: cuvil-opt %s --verify-roundtrip | filecheck %s
// RUN: cuvil-opt %s --verify-roundtrip -p cse,canonicalize | filecheck %s
// CHECK: func.func @f
func.func @f(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = scf.if %c -> (tensor<4xf32>) {
    %2 = arith.addf %a, %0 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  func.return %1 : tensor<4xf32>
}
