// RUN: cuvil-run %s --input 'dense<[1.0, -2.5]> : tensor<2xf32>' --input 3 --input true | filecheck %s
// RUN: cuvil-run %s --input 'dense<[1.0, -2.5]>' --input 'dense<3>' --input 1 | filecheck %s
// RUN: %python -c "import numpy; numpy.save('%t.npy', numpy.array([1, -2.5], 'f'))"
// RUN: cuvil-run %s --inputs %t.npy --input 3 --input true | filecheck %s
// Values come from the command line, with or without their type, or from files.

func.func @main(%x: tensor<2xf32>, %n: tensor<i64>, %b: i1) -> (tensor<2xf32>, tensor<i64>, i1) {
  func.return %x, %n, %b : tensor<2xf32>, tensor<i64>, i1
}
// CHECK: result 0 : tensor<2xf32> = [1, -2.5]
// CHECK-NEXT: result 1 : tensor<i64> = 3
// CHECK-NEXT: result 2 : i1 = true
