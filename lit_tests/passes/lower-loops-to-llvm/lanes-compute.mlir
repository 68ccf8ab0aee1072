// RUN: cuvil-run %s --pipeline lower-loops-to-llvm --input 'dense<[-2.5, -0.5, 0.5, 2.5]> : tensor<4xf32>' --input 'dense<[-1, 0, 1, 300]> : tensor<4xi32>' | filecheck %s
// What every op on lanes computes once it is an instruction: known results, signs and narrowing included.
// CHECK: result 0 : tensor<4xf32> = [2.5, 0.5, 0.5, 2.5]
// CHECK-NEXT: result 1 : tensor<4xi32> = [-2, 0, 0, 2]
// CHECK-NEXT: result 2 : tensor<4xf32> = [-1, 0, 1, 44]
// CHECK-NEXT: result 3 : tensor<4xf32> = [255, 0, 1, 44]
// CHECK-NEXT: result 4 : tensor<4xi32> = [2, 0, 0, 2]
// CHECK-NEXT: result 5 : tensor<4xi32> = [1, 0, 1, 1]
builtin.module attributes {cuvil.host = {function = "main", type = (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>), arena_bytes = 0 : i64, parameters = [], parameter_types = []}} {
  func.func @main(%x: memref<4xf32>, %n: memref<4xi32>, %magnitude: memref<4xf32>, %rounded: memref<4xi32>, %signed: memref<4xf32>, %unsigned: memref<4xf32>, %whole: memref<4xi32>, %above: memref<4xi32>, %arena: memref<0xi8>) attributes {cuvil.inputs = 2 : i64} {
    %c0 = arith.constant 0 : index
    cuvil_vector.prefetch %x[%c0] : memref<4xf32>
    %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
    %i = vector.load %n[%c0] : memref<4xi32>, vector<4xi32>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %none = arith.constant dense<0> : vector<4xi32>
    %is_negative = cuvil_vector.cmpf olt, %v, %zero : vector<4xf32>
    %negated = arith.subf %zero, %v : vector<4xf32>
    %0 = cuvil_vector.select %is_negative, %negated, %v : vector<4xi1>, vector<4xf32>
    vector.store %0, %magnitude[%c0] : memref<4xf32>, vector<4xf32>
    %1 = cuvil_vector.fptosi %v : vector<4xf32> to vector<4xi32>
    vector.store %1, %rounded[%c0] : memref<4xi32>, vector<4xi32>
    %byte = cuvil_vector.trunci %i : vector<4xi32> to vector<4xi8>
    %wide = cuvil_vector.extsi %byte : vector<4xi8> to vector<4xi32>
    %2 = cuvil_vector.sitofp %wide : vector<4xi32> to vector<4xf32>
    vector.store %2, %signed[%c0] : memref<4xf32>, vector<4xf32>
    %wide_unsigned = cuvil_vector.extui %byte : vector<4xi8> to vector<4xi32>
    %3 = cuvil_vector.uitofp %wide_unsigned : vector<4xi32> to vector<4xf32>
    vector.store %3, %unsigned[%c0] : memref<4xf32>, vector<4xf32>
    %4 = cuvil_vector.fptoui %0 : vector<4xf32> to vector<4xi32>
    %as_index = cuvil_vector.index_cast %4 : vector<4xi32> to vector<4xindex>
    %back = cuvil_vector.index_cast %as_index : vector<4xindex> to vector<4xi32>
    vector.store %back, %whole[%c0] : memref<4xi32>, vector<4xi32>
    %is_above = cuvil_vector.cmpi ugt, %i, %none : vector<4xi32>
    %5 = cuvil_vector.extui %is_above : vector<4xi1> to vector<4xi32>
    vector.store %5, %above[%c0] : memref<4xi32>, vector<4xi32>
    func.return
  }
}
