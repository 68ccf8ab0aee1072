// RUN: cuvil-opt %s --load-pass-plugin=%S/Inputs/custom_ops.py --split-input-file --verify-diagnostics
// A name that nobody registered, and shapes that the registration does not give, are errors.

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{cuvil_tensor.custom: op 'mylib::unknown' is not registered; call cuvil.register_op('mylib::unknown', ...) before, cuvil-opt by --load-pass-plugin=FILE}}
  %0 = cuvil_tensor.custom @"mylib::unknown"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @shape(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error@below {{cuvil_tensor.custom: op 'mylib::add_relu' gives [3], expected [4] by its result function}}
  %0 = cuvil_tensor.custom @"mylib::add_relu"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
