// The arms of a conditional share bytes, whether their buffers are allocated inside or before.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @inside: 2 buffers of 6144 bytes in an arena of 4096, no arena is below 4096; 0 stay
// REMARK: remark: @before: 2 buffers of 6144 bytes in an arena of 4096, no arena is below 4096; 0 stay
// REMARK: remark: @across: 3 buffers of 3072 bytes in an arena of 2048, no arena is below 2048; 0 stay

// CHECK-LABEL: func.func @inside
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<4096xi8>
// CHECK: scf.if
// CHECK: memref.view %{{.*}}[%[[ZERO:.*]]][] : memref<4096xi8> to memref<512xf32>
// CHECK: else
// CHECK: memref.view %{{.*}}[%[[ZERO]]][] : memref<4096xi8> to memref<1024xf32>
// CHECK: memref.dealloc
func.func @inside(%which: i1, %x: f32, %out: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  scf.if %which {
    %a = memref.alloc() : memref<512xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<512xf32>)
    %y = memref.load %a[%c0] : memref<512xf32>
    memref.store %y, %out[%c0] : memref<4xf32>
    memref.dealloc %a : memref<512xf32>
  } else {
    %b = memref.alloc() : memref<1024xf32>
    linalg.fill ins(%x : f32) outs(%b : memref<1024xf32>)
    %y = memref.load %b[%c0] : memref<1024xf32>
    memref.store %y, %out[%c0] : memref<4xf32>
    memref.dealloc %b : memref<1024xf32>
  }
  return
}

// CHECK-LABEL: func.func @before
func.func @before(%which: i1, %x: f32, %out: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<512xf32>
  %b = memref.alloc() : memref<1024xf32>
  scf.if %which {
    linalg.fill ins(%x : f32) outs(%a : memref<512xf32>)
    %y = memref.load %a[%c0] : memref<512xf32>
    memref.store %y, %out[%c0] : memref<4xf32>
  } else {
    linalg.fill ins(%x : f32) outs(%b : memref<1024xf32>)
    %y = memref.load %b[%c0] : memref<1024xf32>
    memref.store %y, %out[%c0] : memref<4xf32>
  }
  memref.dealloc %a : memref<512xf32>
  memref.dealloc %b : memref<1024xf32>
  return
}

// What is used after the conditional is in the way of both arms.
// CHECK-LABEL: func.func @across
func.func @across(%which: i1, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %kept = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%kept : memref<256xf32>)
  scf.if %which {
    %a = memref.alloc() : memref<256xf32>
    linalg.exp ins(%kept : memref<256xf32>) outs(%a : memref<256xf32>)
    %y = memref.load %a[%c0] : memref<256xf32>
    memref.store %y, %kept[%c0] : memref<256xf32>
  } else {
    %b = memref.alloc() : memref<256xf32>
    linalg.exp ins(%kept : memref<256xf32>) outs(%b : memref<256xf32>)
    %y = memref.load %b[%c0] : memref<256xf32>
    memref.store %y, %kept[%c0] : memref<256xf32>
  }
  %y = memref.load %kept[%c0] : memref<256xf32>
  return %y : f32
}
