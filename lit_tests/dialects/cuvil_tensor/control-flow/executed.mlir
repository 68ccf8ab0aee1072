// RUN: cuvil-run %s --input 3 | filecheck %s
// RUN: cuvil-run %s --input 0 | filecheck %s --check-prefix=NONE
// A loop on tensors whose condition is a tensor: the powers of two below its trip count are added up.

func.func @main(%n: tensor<i64>) -> (tensor<i64>, tensor<2xi64>) {
  %zero = cuvil_tensor.constant dense<0> : tensor<i64>
  %one = cuvil_tensor.constant dense<1> : tensor<i64>
  %start = cuvil_tensor.constant dense<1> : tensor<2xi64>
  %i, %v = scf.while (%i = %zero, %v = %start) : (tensor<i64>, tensor<2xi64>) -> (tensor<i64>, tensor<2xi64>) {
    %less = cuvil_tensor.binary lt %i, %n : tensor<i64>
    %more = tensor.extract %less[] : tensor<i1>
    scf.condition(%more) %i, %v : tensor<i64>, tensor<2xi64>
  } do {
  ^bb0(%i: tensor<i64>, %v: tensor<2xi64>):
    %next = cuvil_tensor.binary add %i, %one : tensor<i64>
    %w = func.call @double(%v) : (tensor<2xi64>) -> tensor<2xi64>
    scf.yield %next, %w : tensor<i64>, tensor<2xi64>
  }
  %is_none = cuvil_tensor.binary eq %n, %zero : tensor<i64>
  %c = tensor.extract %is_none[] : tensor<i1>
  %r = scf.if %c -> (tensor<2xi64>) {
    %m = cuvil_tensor.unary neg %v : tensor<2xi64>
    scf.yield %m : tensor<2xi64>
  } else {
    scf.yield %v : tensor<2xi64>
  }
  func.return %i, %r : tensor<i64>, tensor<2xi64>
}

func.func private @double(%x: tensor<2xi64>) -> tensor<2xi64> {
  %y = cuvil_tensor.binary add %x, %x : tensor<2xi64>
  func.return %y : tensor<2xi64>
}
// CHECK: result 0 : tensor<i64> = 3
// CHECK-NEXT: result 1 : tensor<2xi64> = [8, 8]
// NONE: result 0 : tensor<i64> = 0
// NONE-NEXT: result 1 : tensor<2xi64> = [-1, -1]
