// RUN: cuvil-opt %s -p lower-loops-to-llvm --verify-roundtrip | filecheck %s
// The llvm dialect that is printed parses back as it was, attributes that upstream's parser adds by itself included.
// CHECK-LABEL: llvm.func @copy

func.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0 : index
  %value = memref.load %x[%zero] : memref<8xf32>
  memref.store %value, %y[%zero] : memref<8xf32>
  func.return
}
