// RUN: cuvil-opt %s -p fuse | filecheck %s --check-prefix=FUSE
// RUN: cuvil-opt %s -p fuse,bufferize,plan-memory,lower-fused-to-loops | filecheck %s --check-prefix=LOOPS
// RUN: cuvil-run %s --random --size s0=5 --size s1=3 --pipeline cpu --compare --no-print
// RUN: cuvil-run %s --random --size s0=1 --size s1=0 --pipeline cpu --compare --no-print
// RUN: cuvil-run %s --random --size s0=33 --size s1=18 --pipeline cpu --compare --no-print
// A size in a kernel is copied into it and computed there from the symbols, which are the last arguments.

!x = tensor<?x?xf32, #cuvil_tensor.dims<"s0", "s1">>

func.func @main(%x: !x) -> (!x, tensor<i64>)
    attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 64>, s1 = #cuvil_tensor.range<0, ?>}} {
  %n = cuvil_tensor.size "s0*s1 + 1" : tensor<f32>
  %m = cuvil_tensor.size "((s0 + 1) floordiv 2)" : tensor<i64>
  %1 = cuvil_tensor.broadcast %n axes = [] : tensor<f32> -> !x
  %2 = cuvil_tensor.binary div %x, %1 : !x
  func.return %2, %m : !x, tensor<i64>
}
// FUSE: cuvil_fused.kernel @{{.*}}(%[[X:.*]] = %x) family = loop
// FUSE-NEXT: %[[N:.*]] = cuvil_tensor.size "s0*s1 + 1" : tensor<f32>
// FUSE-NEXT: cuvil_tensor.broadcast %[[N]]

// LOOPS: func.func @main(%x: memref<?xf32>, %out0: memref<?xf32>, %out1: memref<1xi64>, %arena: memref<0xi8>, %s0: index, %s1: index)
// LOOPS-DAG: func.call @div{{.*}}(%x, %out0, %s0, %s1) : (memref<?xf32>, memref<?xf32>, index, index) -> ()
// LOOPS-DAG: func.call @size{{.*}}(%out1, %s0) : (memref<1xi64>, index) -> ()
