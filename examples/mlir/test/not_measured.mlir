// Allocations whose bytes are not known, or not ours to lay out, stay as they are.
// RUN: %opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(dramalloc)' %s \
// RUN:   | FileCheck %s --implicit-check-not=memref.view

// CHECK-LABEL: func.func @dynamic
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
func.func @dynamic(%n: index) {
  // expected-remark @below {{%alloc stays as it is: its size is known at run time only}}
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// -----

func.func @kinds() {
  // expected-remark @below {{its layout is not the plain one}}
  %a = memref.alloc() : memref<8xf32, strided<[2]>>
  // expected-remark @below {{it lies in a memory space of its own}}
  %b = memref.alloc() : memref<8xf32, 3>
  // expected-remark @below {{the size of its elements depends on how they are lowered}}
  %c = memref.alloc() : memref<8xi24>
  // expected-remark @below {{the size of its elements depends on how they are lowered}}
  %d = memref.alloc() : memref<8xvector<4xf32>>
  // expected-remark @below {{it has no bytes}}
  %e = memref.alloc() : memref<0xf32>
  // expected-remark @below {{its size has more than 64 bits}}
  %f = memref.alloc() : memref<4294967296x4294967296xf32>
  // expected-remark @below {{its alignment is not a power of two up to 2^30}}
  %g = memref.alloc() {alignment = 24 : i64} : memref<8xf32>
  // expected-remark @below {{its alignment is not a power of two up to 2^30}}
  %h = memref.alloc() {alignment = 4294967296 : i64} : memref<8xf32>
  return
}
