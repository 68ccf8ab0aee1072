// RUN: cuvil-opt %s --mlir-elide-elementsattrs-if-larger=3 | filecheck %s
// RUN: cuvil-opt %s --mlir-elide-elementsattrs-if-larger=4 | filecheck %s --check-prefix=WHOLE
// CHECK: arith.constant dense_resource<__elided__> : tensor<4xi32>
// CHECK: arith.constant dense<1> : tensor<8xi32>
// CHECK: arith.constant dense<[1, 2, 3]> : tensor<3xi32>
// WHOLE: arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
%0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
%1 = arith.constant dense<1> : tensor<8xi32>
%2 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
