// Loops in loops: each level has its own, and the inner ones share between iterations of the outer.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @nest: 3 buffers of 12288 bytes in an arena of 8192, no arena is below 8192; 0 stay
// REMARK: remark: @deep: 1 buffers of 4096 bytes in an arena of 4096

// CHECK-LABEL: func.func @nest
// CHECK: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8192xi8>
// CHECK: scf.for
// CHECK: memref.view %[[ARENA]][%[[ROW:.*]]][]
// CHECK: affine.for
// CHECK: memref.view %[[ARENA]][%[[CELL:.*]]][]
// CHECK: memref.view %[[ARENA]][%[[CELL]]][]
func.func @nest(%n: index, %x: f32, %out: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.alloc() : memref<1024xf32>
    linalg.fill ins(%x : f32) outs(%row : memref<1024xf32>)
    affine.for %j = 0 to 8 {
      %a = memref.alloc() : memref<1024xf32>
      linalg.exp ins(%row : memref<1024xf32>) outs(%a : memref<1024xf32>)
      memref.copy %a, %out : memref<1024xf32> to memref<1024xf32>
      memref.dealloc %a : memref<1024xf32>
      %b = memref.alloc() : memref<1024xf32>
      linalg.exp ins(%row : memref<1024xf32>) outs(%b : memref<1024xf32>)
      memref.copy %b, %out : memref<1024xf32> to memref<1024xf32>
      memref.dealloc %b : memref<1024xf32>
    }
    memref.dealloc %row : memref<1024xf32>
  }
  return
}

// An alias of the iteration before, used in an inner loop that also allocates: the second turn of the
// inner loop would read what its first turn has overwritten.
// CHECK: func.func @deep
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.alloc() : memref<1024xf32>
func.func @deep(%n: index, %x: f32, %out: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%x : f32) outs(%first : memref<1024xf32>)
  scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> (memref<1024xf32>) {
    %last = scf.for %j = %c0 to %n step %c1 iter_args(%ignored = %old) -> (memref<1024xf32>) {
      memref.copy %old, %out : memref<1024xf32> to memref<1024xf32>
      %new = memref.alloc() : memref<1024xf32>
      linalg.fill ins(%x : f32) outs(%new : memref<1024xf32>)
      scf.yield %new : memref<1024xf32>
    }
    scf.yield %last : memref<1024xf32>
  }
  return
}
