// RUN: cuvil-opt %s -p decompose | filecheck %s
// RUN: cuvil-run %s --random --pipeline decompose --compare --no-print --tolerance 0
// A row without any score divides by 1, not by 0.

// CHECK-LABEL: func.func @main
func.func @main(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %m: tensor<1x2x3x5xi1>) -> tensor<1x2x3x8xf32> {
  %y = cuvil_tensor.attention %q, %k, %k mask = %m scale = 0.5 : tensor<1x2x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x3x5xi1> -> tensor<1x2x3x8xf32>
  func.return %y : tensor<1x2x3x8xf32>
}

// CHECK: [[SCORES:%.+]] = cuvil_tensor.contract %q, %k lhs_batch = [0, 1] rhs_batch = [0, 1] lhs_contract = [3] rhs_contract = [3]
// CHECK: [[SCALED:%.+]] = cuvil_tensor.binary mul [[SCORES]]
// CHECK: [[MASKED:%.+]] = cuvil_tensor.ternary select %m, [[SCALED]]
// CHECK: cuvil_tensor.reduce max [[MASKED]] axes = [3]
// CHECK: [[POWERS:%.+]] = cuvil_tensor.unary exp
// CHECK: [[SUM:%.+]] = cuvil_tensor.reduce add [[POWERS]] axes = [3]
// CHECK: [[IS_ZERO:%.+]] = cuvil_tensor.binary eq [[SUM]]
// CHECK: [[ONE:%.+]] = cuvil_tensor.constant dense<1.000000e+00>
// CHECK: [[ONES:%.+]] = cuvil_tensor.broadcast [[ONE]]
// CHECK: [[DIVISOR:%.+]] = cuvil_tensor.ternary select [[IS_ZERO]], [[ONES]], [[SUM]]
// CHECK: [[ROWS:%.+]] = cuvil_tensor.broadcast [[DIVISOR]]
// CHECK: [[WEIGHTS:%.+]] = cuvil_tensor.binary div [[POWERS]], [[ROWS]]
// CHECK: %y = cuvil_tensor.contract [[WEIGHTS]], %k lhs_batch = [0, 1] rhs_batch = [0, 1] lhs_contract = [3] rhs_contract = [2]
