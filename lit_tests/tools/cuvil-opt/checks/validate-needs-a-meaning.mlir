// RUN: not cuvil-opt %s --validate --allow-unregistered-dialect -p cse 2>&1 | filecheck %s
// What cannot be run cannot be validated: that is an error, not silence.
// CHECK: error: @f cannot be run before the pipeline:
func.func @f(%a: f32) -> f32 {
  %0 = "who.knows"(%a) : (f32) -> f32
  func.return %0 : f32
}
