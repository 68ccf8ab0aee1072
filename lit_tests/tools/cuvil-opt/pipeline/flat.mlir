// RUN: cuvil-opt %s -p cse,canonicalize | filecheck %s
// RUN: cuvil-opt %s -p cse -p canonicalize | filecheck %s
// RUN: cuvil-opt %s --cse --canonicalize | filecheck %s
// RUN: cuvil-opt %s -cse -canonicalize | filecheck %s
// RUN: cuvil-opt --cse %s --passes=canonicalize | filecheck %s
// Passes by -p, by their own flags, with one dash or two; a flag does not take the file as its value.

func.func @f(%a: f32) -> f32 {
  // CHECK:      %[[sum:.*]] = arith.addf
  // CHECK-NEXT: %[[product:.*]] = arith.mulf %[[sum]], %[[sum]]
  // CHECK-NEXT: func.return %[[product]]
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a : f32
  %2 = arith.mulf %0, %1 : f32
  %unused = arith.mulf %1, %2 : f32
  func.return %2 : f32
}
