// RUN: cuvil-run %s --engine native --input 'dense<[1.0, 2.0]> : tensor<2xf32>' | filecheck %s --check-prefix=TRUE
// RUN: cuvil-run %s --engine native --input 'dense<[1.0, -2.0]> : tensor<2xf32>' | filecheck %s --check-prefix=FALSE
// RUN: cuvil-run %s --engine native --input 'dense<[0x7FC00000, 2.0]> : tensor<2xf32>' | filecheck %s --check-prefix=FALSE-NAN
// A branch on data: NaN compares as false with everything. One branch computes, the other gives its input back.
// TRUE: result 0 : tensor<2xf32> = [2, 4]
// FALSE: result 0 : tensor<2xf32> = [1, -2]
// FALSE-NAN: result 0 : tensor<2xf32> = [nan, 2]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %sum = cuvil_tensor.reduce add %x axes = [0] : tensor<2xf32> -> tensor<f32>
  %zero = cuvil_tensor.constant dense<0.0> : tensor<f32>
  %is_positive = cuvil_tensor.binary gt %sum, %zero : tensor<f32>
  %c = tensor.extract %is_positive[] : tensor<i1>
  %0 = scf.if %c -> (tensor<2xf32>) {
    %1 = cuvil_tensor.binary add %x, %x : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
