// RUN: cuvil-opt --allow-unregistered-dialect %s | filecheck %s
// RUN: not cuvil-opt %s 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: :6:1: error: operation 'who.knows' is not registered, nor is its dialect; --allow-unregistered-dialect accepts any

// CHECK: "who.knows"() : () -> ()
"who.knows"() : () -> ()
