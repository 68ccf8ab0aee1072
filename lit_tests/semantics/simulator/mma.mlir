// RUN: %python -c "import numpy as n; n.save('%t.a.npy', n.arange(256, dtype='f').reshape(-1) % 7); n.save('%t.b.npy', n.arange(128, dtype='f') % 5 - 2)"
// RUN: cuvil-run %s --inputs %t.a.npy,%t.b.npy | filecheck %s
// A is copied to shared memory behind the threads' backs; a warp multiplies 16 x 16 by 16 x 8 on fragments.
// numpy: (arange(256) % 7).reshape(16, 16) @ (arange(128) % 5 - 2).reshape(16, 8), first row.
// CHECK: result 0 : tensor<128xf32> = [6, -1, -13, 0, 8, 6, -1, -13, 2, 4, 1, -12,
func.func @main(%a: memref<256xbf16, 1 : i32>, %b: memref<128xbf16, 1 : i32>, %c: memref<128xf32, 1 : i32>)
    attributes {cuvil_fused.outputs = 1 : i64} {
  %one = arith.constant 1 : index
  cuvil_gpu.launch @product blocks = (%one, %one, %one) (%a, %b, %c)
    : memref<256xbf16, 1 : i32>, memref<128xbf16, 1 : i32>, memref<128xf32, 1 : i32>
  func.return
}
cuvil_gpu.kernel @product threads = [32, 1, 1] {
^bb0(%a: memref<256xbf16, 1 : i32>, %b: memref<128xbf16, 1 : i32>, %c: memref<128xf32, 1 : i32>):
  %sa = cuvil_gpu.shared : memref<256xbf16, 3 : i32>
  %sb = cuvil_gpu.shared : memref<128xbf16, 3 : i32>
  %lane = "gpu.lane_id"() : () -> index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %sixteen = arith.constant 16 : index
  %half = arith.constant 128 : index
  %first = arith.muli %lane, %eight : index
  %second = arith.addi %first, %half : index
  cuvil_gpu.copy_async %a[%first], %sa[%first] elements = 8 : memref<256xbf16, 1 : i32>, memref<256xbf16, 3 : i32>
  %lane_b = arith.muli %lane, %four : index
  cuvil_gpu.copy_async %b[%lane_b], %sb[%lane_b] elements = 4 : memref<128xbf16, 1 : i32>, memref<128xbf16, 3 : i32>
  cuvil_gpu.commit_copies
  cuvil_gpu.wait_copies in_flight = 0
  cuvil_gpu.warp_sync
  // Lanes 0-15 say where rows 0-15 of A begin, lanes 16-31 where their second halves do.
  %row = arith.remui %lane, %sixteen : index
  %side = arith.divui %lane, %sixteen : index
  %row_start = arith.muli %row, %sixteen : index
  %side_start = arith.muli %side, %eight : index
  %place_a = arith.addi %row_start, %side_start : index
  %fa = cuvil_gpu.load_matrix %sa[%place_a] matrices = 4 : memref<256xbf16, 3 : i32>, vector<8xbf16>
  %place_b = arith.muli %row, %eight : index
  %fb = cuvil_gpu.load_matrix %sb[%place_b] matrices = 2 transposed : memref<128xbf16, 3 : i32>, vector<4xbf16>
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %r = cuvil_gpu.mma %fa, %fb, %zero : vector<8xbf16>, vector<4xbf16>, vector<4xf32> -> vector<4xf32>
  %group = arith.divui %lane, %four : index
  %within = arith.remui %lane, %four : index
  %column = arith.muli %within, %two : index
  %upper = arith.muli %group, %eight : index
  %place = arith.addi %upper, %column : index
  %sixtyfour = arith.constant 64 : index
  %lower = arith.addi %place, %sixtyfour : index
  %top = vector.shuffle %r, %r [0, 1] : vector<4xf32>, vector<4xf32>
  %bottom = vector.shuffle %r, %r [2, 3] : vector<4xf32>, vector<4xf32>
  cuvil_gpu.store %top, %c[%place] : vector<2xf32>, memref<128xf32, 1 : i32>
  cuvil_gpu.store %bottom, %c[%lower] : vector<2xf32>, memref<128xf32, 1 : i32>
  cuvil_gpu.return
}
