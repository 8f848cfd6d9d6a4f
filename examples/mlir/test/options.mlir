// Strategies, whole pages, and the program as a file for the command.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{strategy=reference summary=true})' %s 2>&1 | FileCheck %s
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{strategy=best summary=true})' %s 2>&1 | FileCheck %s
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{paged=true summary=true})' %s 2>&1 | FileCheck %s --check-prefix=PAGED
// RUN: not %opt --pass-pipeline='builtin.module(dramalloc{strategy=luck})' %s 2>&1 | FileCheck %s --check-prefix=LUCK
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{print-program=true})' %s 2>&1 | FileCheck %s --check-prefix=FILE

// CHECK: 2 buffers of 256 bytes in an arena of 256, no arena is below 256; 0 stay
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<256xi8>
// PAGED: 2 buffers of 256 bytes in an arena of 8192, no arena is below 8192; 0 stay
// PAGED: memref.alloc() {alignment = 64 : i64} : memref<8192xi8>
// LUCK: luck
// FILE: {"format":"dramalloc-program"
// FILE: {"op":"linalg.exp","uses":["%alloc"],"defs":["%alloc_0"]}
func.func @two(%x: f32, %out: memref<32xf32>) {
  %a = memref.alloc() : memref<32xf32>
  %b = memref.alloc() : memref<32xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<32xf32>)
  linalg.exp ins(%a : memref<32xf32>) outs(%b : memref<32xf32>)
  memref.copy %b, %out : memref<32xf32> to memref<32xf32>
  return
}
