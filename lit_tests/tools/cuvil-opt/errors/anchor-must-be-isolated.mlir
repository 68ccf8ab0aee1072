// RUN: not cuvil-opt %s -p 'func.func(scf.if(cse))' 2>&1 | filecheck %s
// A region that sees values around it cannot be taken out of its module.
func.func @f(%c: i1) {
  // CHECK: :[[# @LINE + 1]]:3: error: pass 'cse' failed: scf.if is not isolated from above: no pass can be anchored on it
  scf.if %c {
    scf.yield
  }
  func.return
}
