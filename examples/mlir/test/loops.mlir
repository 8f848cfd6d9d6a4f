// Buffers of one iteration, buffers around a loop, and buffers that go round.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @local: 2 buffers of 2048 bytes in an arena of 1024, no arena is below 1024; 0 stay
// REMARK: remark: @around: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: @hole: 2 buffers of 2048 bytes in an arena of 1024, no arena is below 1024; 0 stay
// REMARK: remark: @accumulated: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: %alloc stays as it is: what frees it may also free something that stays
// REMARK: remark: %alloc_0 stays as it is: one of an earlier iteration may be in use when the next is allocated
// REMARK: remark: @swapped: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: @late: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay

// Two of one iteration, one after the other.
// CHECK-LABEL: func.func @local
// CHECK: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1024xi8>
// CHECK: scf.for
// CHECK: memref.view %[[ARENA]][%[[AT:.*]]][]
// CHECK: memref.view %[[ARENA]][%[[AT]]][]
func.func @local(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
    memref.copy %a, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %a : memref<256xf32>
    %b = memref.alloc() : memref<256xf32>
    // Written in part only, and read after: the iteration before must not matter.
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %b[%j] : memref<256xf32>
    }
    memref.copy %b, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %b : memref<256xf32>
  }
  return
}

// What is read in every iteration lives through the whole loop.
// CHECK-LABEL: func.func @around
func.func @around(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %a, %out : memref<256xf32> to memref<256xf32>
    %b = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
    memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  }
  return
}

// Allocated outside and overwritten in every iteration before it is read: a hole from the last use
// to the next def.
// CHECK-LABEL: func.func @hole
func.func @hole(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
    memref.copy %a, %out : memref<256xf32> to memref<256xf32>
    linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
    memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  }
  return
}

// All accesses are in the loop, but each iteration reads what the one before has written.
// CHECK-LABEL: func.func @accumulated
func.func @accumulated(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  scf.for %i = %c0 to %n step %c1 {
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
    }
    memref.store %x, %a[%i] : memref<256xf32>
    memref.copy %a, %out : memref<256xf32> to memref<256xf32>
    %b = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
    memref.copy %b, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %b : memref<256xf32>
  }
  return
}

// Each iteration makes the next one's input: two of one allocation are alive at once, and one
// address is not enough. The dealloc frees either of them, and so keeps the first one too.
// CHECK-LABEL: func.func @carried
// CHECK: memref.alloc() : memref<256xf32>
// CHECK: scf.for
// CHECK: memref.alloc() : memref<256xf32>
// CHECK: memref.dealloc
func.func @carried(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%first : memref<256xf32>)
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> (memref<256xf32>) {
    %new = memref.alloc() : memref<256xf32>
    linalg.exp ins(%old : memref<256xf32>) outs(%new : memref<256xf32>)
    memref.dealloc %old : memref<256xf32>
    scf.yield %new : memref<256xf32>
  }
  %y = memref.load %last[%c0] : memref<256xf32>
  memref.dealloc %last : memref<256xf32>
  return %y : f32
}

// Two buffers that swap: both are live all the time.
// CHECK-LABEL: func.func @swapped
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<2048xi8>
func.func @swapped(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%from = %a, %to = %b)
      -> (memref<256xf32>, memref<256xf32>) {
    linalg.exp ins(%from : memref<256xf32>) outs(%to : memref<256xf32>)
    scf.yield %to, %from : memref<256xf32>, memref<256xf32>
  }
  %y = memref.load %p[%c0] : memref<256xf32>
  memref.dealloc %p : memref<256xf32>
  memref.dealloc %q : memref<256xf32>
  return %y : f32
}

// The old one is read before the new one is allocated: one address is enough for all of them.
// CHECK-LABEL: func.func @late
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<2048xi8>
func.func @late(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%first : memref<256xf32>)
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> (memref<256xf32>) {
    memref.copy %old, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %old : memref<256xf32>
    %new = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%new : memref<256xf32>)
    scf.yield %new : memref<256xf32>
  }
  memref.dealloc %last : memref<256xf32>
  return
}

// The old one is still wanted when the next iteration begins: what is allocated there keeps clear of it.
// REMARK: remark: @older_first: 3 buffers of 3072 bytes in an arena of 3072, no arena is below 3072; 0 stay
// CHECK-LABEL: func.func @older_first
func.func @older_first(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%first : memref<256xf32>)
  scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> (memref<256xf32>) {
    %b = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
    memref.copy %b, %out : memref<256xf32> to memref<256xf32>
    memref.copy %old, %out : memref<256xf32> to memref<256xf32>
    %new = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%new : memref<256xf32>)
    scf.yield %new : memref<256xf32>
  }
  return
}
