// scf.while runs its first region once more than its second, and hands values from each to the other.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @regions: 3 buffers of 3072 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: %{{.*}} stays as it is: one of an earlier iteration may be in use when the next is allocated

// CHECK-LABEL: func.func @regions
func.func @regions(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kept = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%kept : memref<256xf32>)
  %last = scf.while (%i = %c0) : (index) -> index {
    %a = memref.alloc() : memref<256xf32>
    linalg.exp ins(%kept : memref<256xf32>) outs(%a : memref<256xf32>)
    memref.copy %a, %out : memref<256xf32> to memref<256xf32>
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %b = memref.alloc() : memref<256xf32>
    linalg.exp ins(%kept : memref<256xf32>) outs(%b : memref<256xf32>)
    memref.copy %b, %out : memref<256xf32> to memref<256xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}

// Read in the first region after the second one may have allocated again? No: but the next turn of the
// second region allocates while the result of the one before is still to be read.
// CHECK-LABEL: func.func @handed
func.func @handed(%n: index, %x: f32, %given: memref<256xf32>, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last, %held = scf.while (%i = %c0, %old = %given) : (index, memref<256xf32>) -> (index, memref<256xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %old : index, memref<256xf32>
  } do {
  ^bb0(%i: index, %old: memref<256xf32>):
    %new = memref.alloc() : memref<256xf32>
    linalg.exp ins(%old : memref<256xf32>) outs(%new : memref<256xf32>)
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %new : index, memref<256xf32>
  }
  memref.copy %held, %out : memref<256xf32> to memref<256xf32>
  return
}
