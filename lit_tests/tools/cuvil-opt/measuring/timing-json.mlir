// RUN: cuvil-opt %s -p 'func.func(cse)' --mlir-timing --mlir-output-format=json 2>&1 >/dev/null | %python -c "import json, sys; print(*[(t['name'], [p['name'] for p in t.get('passes', [])]) for t in json.load(sys.stdin)], sep='\n')" | filecheck %s
// CHECK: ('Parser', [])
// CHECK: ("'func.func' Pipeline", ['cse'])
// CHECK: ('Total', [])
func.func private @f()
