// RUN: cuvil-opt %s -p bufferize | filecheck %s
// RUN: cuvil-opt %s -p bufferize,plan-memory --validate -o /dev/null
// A returned result of an if, nested too, is written by the branches straight into the output.
// CHECK-NOT: cuvil_fused.alloc
// CHECK: @relu(%a = %x) into(%out0)
// CHECK: @neg(%a = %x) into(%out0)
// CHECK: cuvil_fused.copy %x, %out0
// CHECK: func.return
func.func @main(%x: tensor<4xf32>, %c: i1, %d: i1) -> tensor<4xf32> {
  %0 = scf.if %c -> (tensor<4xf32>) {
    %1 = scf.if %d -> (tensor<4xf32>) {
      %2 = cuvil_fused.kernel @relu(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
        %y = cuvil_tensor.unary relu %a : tensor<4xf32>
        cuvil_fused.yield %y : tensor<4xf32>
      }
      scf.yield %2 : tensor<4xf32>
    } else {
      %3 = cuvil_fused.kernel @neg(%a = %x) family = loop access = <streaming> : (tensor<4xf32>) -> (tensor<4xf32>) {
        %y = cuvil_tensor.unary neg %a : tensor<4xf32>
        cuvil_fused.yield %y : tensor<4xf32>
      }
      scf.yield %3 : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
