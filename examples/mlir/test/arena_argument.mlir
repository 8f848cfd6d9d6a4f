// The caller brings the arena: a last argument, of the bytes that are needed.
// RUN: %opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(dramalloc{arena=argument})' %s | FileCheck %s

// CHECK-LABEL: func.func @entry
// CHECK-SAME: (%[[X:.*]]: f32, %[[OUT:.*]]: memref<8xf32>, %[[ARENA:.*]]: memref<96xi8>)
// CHECK: memref.assume_alignment %[[ARENA]], 64 : memref<96xi8>
// CHECK-NOT: memref.alloc
// CHECK: memref.view %[[ARENA]]
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @entry(%x: f32, %out: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// -----

// expected-error @below {{@inner is called in this module, and its callers bring no arena}}
func.func @inner(%x: f32) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
  return
}
func.func @outer(%x: f32) {
  call @inner(%x) : (f32) -> ()
  return
}
