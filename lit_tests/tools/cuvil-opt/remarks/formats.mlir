// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter=missed --remark-format=json 2>&1 >/dev/null | filecheck %s --check-prefix=JSON
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-filter=missed --remark-format=yaml 2>&1 >/dev/null | filecheck %s --check-prefix=YAML
// RUN: cuvil-opt %s --load-pass-plugin=%S/../Inputs/test_passes.py -p test-report --remarks-output-file=%t --remark-format=json
// RUN: filecheck %s --check-prefix=FILE --input-file=%t
// For scripts; a file without a filter takes all remarks.
// JSON: {"kind": "missed", "pass": "test-report", "message": "left an addition", "op": "arith.addf", "function": "f", "file": "{{.*}}formats.mlir", "line": 17, "column": 8, "args": {"width": 32}}
// YAML:      --- !Missed
// YAML-NEXT: Pass: "test-report"
// YAML-NEXT: Name: "arith.addf"
// YAML-NEXT: DebugLoc: { File: "{{.*}}formats.mlir", Line: 17, Column: 8 }
// YAML-NEXT: Function: "f"
// YAML-NEXT: Args:
// YAML-NEXT:   - String: "left an addition"
// YAML-NEXT:   - width: 32
// YAML-NEXT: ...
func.func @f(%a: f32) {
  %0 = arith.addf %a, %a : f32
  func.return
}
// FILE-DAG: "kind": "missed"
// FILE-DAG: "kind": "passed"
// FILE-DAG: "kind": "analysis"
