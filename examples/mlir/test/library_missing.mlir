// A library that is not there, or is another one, is an error of the pass, not of the process.
// RUN: not %opt --pass-pipeline='builtin.module(dramalloc{library=/nowhere/libdramalloc.so})' %s 2>&1 | FileCheck %s
// RUN: env DRAMALLOC_LIBRARY=/nowhere/either.so not %opt --pass-pipeline='builtin.module(dramalloc)' %s 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: not %opt --pass-pipeline='builtin.module(dramalloc{library=libm.so.6})' %s 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK: error: dramalloc: /nowhere/libdramalloc.so: {{.*}}No such file
// NAMED: error: dramalloc: /nowhere/either.so: {{.*}}No such file
// OTHER: error: dramalloc: libm.so.6: has no dram_get_api
func.func @one(%x: f32) {
  %a = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<1024xf32>)
  return
}
