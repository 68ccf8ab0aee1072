// RUN: cuvil-run %s --pipeline lower-loops-to-llvm --input 'dense<27> : tensor<i64>' --input 'dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>' | filecheck %s
// A while loop with a branch in it, a loop over memory and a parallel loop give what they say: Collatz' steps from 27
// to 1, the sum of squares, and each number doubled.
// CHECK: result 0 : tensor<i64> = 111
// CHECK-NEXT: result 1 : tensor<f32> = 30
// CHECK-NEXT: result 2 : tensor<4xf32> = [2, 4, 6, 8]
builtin.module attributes {cuvil.host = {function = "main", type = (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<f32>, tensor<4xf32>), arena_bytes = 0 : i64, parameters = [], parameter_types = []}} {
  func.func @main(%start: memref<1xi64>, %x: memref<4xf32>, %steps: memref<1xi64>, %sum: memref<1xf32>, %doubled: memref<4xf32>, %arena: memref<0xi8>) attributes {cuvil.inputs = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %one = arith.constant 1 : i64
    %three = arith.constant 3 : i64
    %two = arith.constant 2 : i64
    %none = arith.constant 0 : i64
    %first = memref.load %start[%c0] : memref<1xi64>
    %last, %count = scf.while (%n = %first, %k = %none) : (i64, i64) -> (i64, i64) {
      %goes_on = arith.cmpi ne, %n, %one : i64
      scf.condition(%goes_on) %n, %k : i64, i64
    } do {
    ^bb0(%n: i64, %k: i64):
      %rest = arith.remsi %n, %two : i64
      %is_odd = arith.cmpi eq, %rest, %one : i64
      %next = scf.if %is_odd -> (i64) {
        %tripled = arith.muli %n, %three : i64
        %up = arith.addi %tripled, %one : i64
        scf.yield %up : i64
      } else {
        %down = arith.divsi %n, %two : i64
        scf.yield %down : i64
      }
      %more = arith.addi %k, %one : i64
      scf.yield %next, %more : i64, i64
    }
    memref.store %count, %steps[%c0] : memref<1xi64>
    %zero = arith.constant 0.0 : f32
    %total = scf.for %i = %c0 to %c4 step %c1 iter_args(%so_far = %zero) -> (f32) {
      %v = memref.load %x[%i] : memref<4xf32>
      %square = arith.mulf %v, %v : f32
      %added = arith.addf %so_far, %square : f32
      scf.yield %added : f32
    }
    memref.store %total, %sum[%c0] : memref<1xf32>
    func.call @double(%x, %doubled) : (memref<4xf32>, memref<4xf32>) -> ()
    func.return
  }
  func.func private @double(%x: memref<4xf32>, %y: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    "scf.parallel"(%c0, %c4, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb0(%i: index):
      %v = memref.load %x[%i] : memref<4xf32>
      %twice = arith.addf %v, %v : f32
      memref.store %twice, %y[%i] : memref<4xf32>
      scf.reduce
    }) : (index, index, index) -> ()
    func.return
  }
}
