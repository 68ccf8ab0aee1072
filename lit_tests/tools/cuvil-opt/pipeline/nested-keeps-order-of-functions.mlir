// RUN: cuvil-opt %s -p 'func.func(cse)' | filecheck %s
// A function that was taken out for its passes comes back where it was, among all other operations.

// CHECK: func.func @first
// CHECK: func.func private @second
// CHECK: "test.op"() {third}
// CHECK: func.func @fourth
func.func @first() {
  func.return
}
func.func private @second()
"test.op"() {third} : () -> ()
func.func @fourth() {
  func.return
}
