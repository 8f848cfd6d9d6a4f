// Integers, floats and indices of the usual sizes; a bit takes a byte.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{print-program=true alignment=1})' %s 2>%t.json
// RUN: FileCheck %s < %t.json

// CHECK: "name":"%alloc","bytes":10
// CHECK: "name":"%alloc_0","bytes":10
// CHECK: "name":"%alloc_1","bytes":20
// CHECK: "name":"%alloc_2","bytes":20
// CHECK: "name":"%alloc_3","bytes":80
// CHECK: "name":"%alloc_4","bytes":80
func.func @types() {
  %a = memref.alloc() : memref<10xi1>
  %b = memref.alloc() : memref<10xi8>
  %c = memref.alloc() : memref<10xbf16>
  %d = memref.alloc() : memref<2x5xf16>
  %e = memref.alloc() : memref<10xf64>
  %f = memref.alloc() : memref<10xindex>
  return
}
