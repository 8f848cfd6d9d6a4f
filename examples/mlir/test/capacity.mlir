// Too little room is an error that names what is missing and who holds the bytes; nothing is changed.
// RUN: not %opt --pass-pipeline='builtin.module(dramalloc{capacity=8191})' %s 2>&1 | FileCheck %s
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{capacity=8192})' %s 2>&1 | FileCheck %s --check-prefix=FITS

// CHECK: capacity.mlir:[[#@LINE+7]]:1: error: dramalloc: {{.*}}8191
// CHECK: capacity.mlir:{{[0-9]+}}:{{[0-9]+}}: note: no room for 4096 bytes; 1 are missing
// CHECK: capacity.mlir:{{[0-9]+}}:{{[0-9]+}}: note: bytes 0 to 4096 are held by this

// FITS-LABEL: func.func @two
// FITS: memref.alloc() {alignment = 64 : i64} : memref<8192xi8>
//
func.func @two(%x: f32) {
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<1024xf32>)
  linalg.exp ins(%a : memref<1024xf32>) outs(%b : memref<1024xf32>)
  linalg.exp ins(%b : memref<1024xf32>) outs(%a : memref<1024xf32>)
  return
}
