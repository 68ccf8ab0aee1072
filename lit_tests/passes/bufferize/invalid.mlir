// RUN: cuvil-opt %s -p bufferize --split-input-file --verify-diagnostics
// What has no buffers: core ops outside kernels, calls, unstructured control flow.

func.func @core(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{pass 'bufferize' failed: cuvil_tensor.unary: outside of a kernel in @core; run 'fuse' before 'bufferize'}}
  %0 = cuvil_tensor.unary relu %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{pass 'bufferize' failed: cuvil_tensor.softmax: outside of a kernel in @composite; run 'fuse' before 'bufferize'}}
  %0 = cuvil_tensor.softmax %x axis = 0 : tensor<4xf32> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @in_a_branch(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = scf.if %c -> (tensor<4xf32>) {
    // expected-error @+1 {{pass 'bufferize' failed: cuvil_tensor.unary: outside of a kernel in @in_a_branch; run 'fuse' before 'bufferize'}}
    %1 = cuvil_tensor.unary relu %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}

// -----

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{pass 'bufferize' failed: func.call: cannot be given buffers: outside of kernels, expected parameters, constants, tensor.extract, scf.if, scf.for and scf.while}}
  %0 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{pass 'bufferize' failed: expected structured control flow (scf), got a region of several blocks}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  func.return %x : tensor<4xf32>
}

// -----

func.func @branch_without_a_value(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // expected-error @+1 {{scf.if: each branch yields a value for each of 1 results}}
  %r = scf.if %c -> (tensor<4xf32>) {} else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
