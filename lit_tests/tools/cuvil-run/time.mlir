// RUN: cuvil-run %s --random --time=3 --no-print | filecheck %s
// RUN: cuvil-run %s --random --time=3 --no-print --json | filecheck %s --check-prefix=JSON

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = cuvil_tensor.unary exp %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK: time: median {{[0-9.]+}} ms, min {{[0-9.]+}} ms of 3 runs
// JSON: {"time": {"median_s": {{[0-9.e-]+}}, "min_s": {{[0-9.e-]+}}, "runs": 3}}
