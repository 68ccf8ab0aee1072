// RUN: cuvil-opt %s --split-input-file --verify-diagnostics
// Tensors hold what PyTorch computes with; any other type is refused where it comes in, not in some pass on the way down.

func.func @main(%x: tensor<4xf80>) {
  // expected-error @+1 {{cuvil_tensor.unary: element type f80 is not one of f16, bf16, f32, f64, i1, index or an integer of 8, 16, 32 or 64 bits}}
  %0 = cuvil_tensor.unary exp %x : tensor<4xf80>
  func.return
}

// -----

func.func @main(%x: tensor<4xi3>) {
  // expected-error @+1 {{cuvil_tensor.binary: element type i3 is not one of f16, bf16, f32, f64, i1, index or an integer of 8, 16, 32 or 64 bits}}
  %0 = cuvil_tensor.binary add %x, %x : tensor<4xi3>
  func.return
}

// -----

func.func @main(%x: tensor<4x4xf8E4M3FN>) {
  // expected-error @+1 {{cuvil_tensor.contract: element type f8E4M3FN is not one of f16, bf16, f32, f64, i1, index or an integer of 8, 16, 32 or 64 bits}}
  %0 = cuvil_tensor.contract %x, %x lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0] : tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN> -> tensor<4x4xf8E4M3FN>
  func.return
}

// -----

func.func @main(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{cuvil_tensor.transpose: element type complex<f32> is not one of f16, bf16, f32, f64, i1, index or an integer of 8, 16, 32 or 64 bits}}
  %0 = cuvil_tensor.transpose %x input_order = [0] : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  func.return
}

// -----

// The accepted twin.
func.func @main(%x: tensor<4xbf16>, %y: tensor<4xui8>, %z: tensor<4xi1>) {
  %0 = cuvil_tensor.unary exp %x : tensor<4xbf16>
  %1 = cuvil_tensor.binary add %y, %y : tensor<4xui8>
  %2 = cuvil_tensor.binary and %z, %z : tensor<4xi1>
  func.return
}
