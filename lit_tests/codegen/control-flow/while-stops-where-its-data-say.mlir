// RUN: cuvil-run %s --engine native --input 'dense<[1.0, 3.0]> : tensor<2xf32>' --compare | filecheck %s --check-prefix=GROWS
// RUN: cuvil-run %s --engine native --input 'dense<[99.0, 3.0]> : tensor<2xf32>' --compare | filecheck %s --check-prefix=STAYS
// The condition reads what the body computed; no round at all gives the start.
// GROWS: result 0 : tensor<2xf32> = [16, 48]
// GROWS: comparison 0 agrees exactly
// STAYS: result 0 : tensor<2xf32> = [99, 3]
// STAYS: comparison 0 agrees exactly
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %limit = cuvil_tensor.constant dense<40.0> : tensor<f32>
  %0 = scf.while (%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    %top = cuvil_tensor.reduce max %a axes = [0] : tensor<2xf32> -> tensor<f32>
    %below = cuvil_tensor.binary lt %top, %limit : tensor<f32>
    %c = tensor.extract %below[] : tensor<i1>
    scf.condition(%c) %a : tensor<2xf32>
  } do {
  ^bb0(%a: tensor<2xf32>):
    %1 = cuvil_tensor.binary add %a, %a : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}
