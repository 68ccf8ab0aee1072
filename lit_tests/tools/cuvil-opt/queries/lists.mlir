// RUN: cuvil-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: cuvil-opt --list-pipelines | filecheck %s --check-prefix=PIPELINES
// RUN: cuvil-opt --list-targets | filecheck %s --check-prefix=TARGETS
// RUN: cuvil-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: cuvil-opt --version | filecheck %s --check-prefix=VERSION
// PASSES: {{^}}canonicalize {{.*}}
// PASSES: {{^}}cse
// PASSES: {{^}}lower-math {{.+}}
// PIPELINES: normalize = decompose
// PIPELINES: cpu:
// PIPELINES: fuse
// PIPELINES: ensures:
// TARGETS: {{^}}mlir
// DIALECTS: Available Dialects: {{.*}}arith, {{.*}}cuvil_fused, cuvil_{{.*}}cuvil_tensor, {{.*}}func
// VERSION: cuvil-opt {{[0-9.]+}} (xDSL {{[0-9.]+}})
