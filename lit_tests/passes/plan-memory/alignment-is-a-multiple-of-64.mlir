// RUN: not cuvil-opt %s -p plan-memory{alignment=96} 2>&1 | filecheck %s
// Views start at lines of the cache.
// CHECK: pass 'plan-memory' failed: plan-memory: alignment is a positive multiple of 64 bytes, got 96
