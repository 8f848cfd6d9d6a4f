// One after the other: the third buffer takes the bytes of the first.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @chain: 3 buffers of 3072 bytes in an arena of 2048, no arena is below 2048; 0 stay

// CHECK-LABEL: func.func @chain
// CHECK-DAG: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2048xi8>
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 1024 : index
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[FIRST:.*]]][] : memref<2048xi8> to memref<256xf32>
// CHECK: linalg.fill {{.*}} outs(%[[A]]
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[SECOND:.*]]][]
// CHECK-NOT: memref.dealloc
// CHECK: memref.view %[[ARENA]][%[[FIRST]]][]
// CHECK-NOT: memref.alloc
// CHECK: memref.dealloc %[[ARENA]] : memref<2048xi8>
// CHECK-NEXT: return
func.func @chain(%x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  linalg.exp ins(%a : memref<256xf32>) outs(%b : memref<256xf32>)
  memref.dealloc %a : memref<256xf32>
  %c = memref.alloc() : memref<256xf32>
  linalg.exp ins(%b : memref<256xf32>) outs(%c : memref<256xf32>)
  memref.dealloc %b : memref<256xf32>
  %y = memref.load %c[%c0] : memref<256xf32>
  memref.dealloc %c : memref<256xf32>
  return %y : f32
}

// Allocated at the top, as some programs do: a buffer begins where its bytes begin to matter.
// CHECK-LABEL: func.func @early
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<2048xi8>
func.func @early(%x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  %c = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  linalg.exp ins(%a : memref<256xf32>) outs(%b : memref<256xf32>)
  linalg.exp ins(%b : memref<256xf32>) outs(%c : memref<256xf32>)
  %y = memref.load %c[%c0] : memref<256xf32>
  return %y : f32
}

// Nothing to place: nothing changes.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return
func.func @nothing() {
  return
}
