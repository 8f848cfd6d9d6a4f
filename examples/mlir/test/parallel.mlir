// Iterations that may run at the same time: the loop is one step, and what is allocated inside stays.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: %{{.*}} stays as it is: it is allocated where several may exist at once
// REMARK: remark: @filled: 3 buffers of 3072 bytes in an arena of 2048, no arena is below 2048; 1 stay

// CHECK-LABEL: func.func @filled
// CHECK: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2048xi8>
// CHECK: memref.view %[[ARENA]][%[[FIRST:.*]]][]
// CHECK: memref.view %[[ARENA]][%[[SECOND:.*]]][]
// CHECK: scf.parallel
// CHECK: memref.alloc() : memref<4xf32>
// CHECK: memref.dealloc
// CHECK: memref.view %[[ARENA]][%[[FIRST]]][]
func.func @filled(%x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  scf.parallel (%i) = (%c0) to (%c256) step (%c1) {
    %own = memref.alloc() : memref<4xf32>
    linalg.fill ins(%x : f32) outs(%own : memref<4xf32>)
    %y = memref.load %own[%c0] : memref<4xf32>
    memref.dealloc %own : memref<4xf32>
    %z = memref.load %a[%i] : memref<256xf32>
    %sum = arith.addf %y, %z : f32
    %part = memref.subview %b[%i] [1] [1] : memref<256xf32> to memref<1xf32, strided<[1], offset: ?>>
    memref.store %sum, %part[%c0] : memref<1xf32, strided<[1], offset: ?>>
  }
  %c = memref.alloc() : memref<256xf32>
  linalg.exp ins(%b : memref<256xf32>) outs(%c : memref<256xf32>)
  memref.copy %c, %out : memref<256xf32> to memref<256xf32>
  return
}

// No iteration may run: what one overwrites is wanted all the same.
// REMARK: remark: @perhaps: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// CHECK-LABEL: func.func @perhaps
func.func @perhaps(%n: index, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  }
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  return
}
