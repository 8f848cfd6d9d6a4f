// Views are the bytes of their buffer: they take none themselves, and hold it while they are used.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @all_kinds: 2 buffers of 8192 bytes in an arena of 8192, no arena is below 8192; 0 stay
// REMARK: remark: @chosen: 3 buffers of 3072 bytes in an arena of 3072, no arena is below 3072; 0 stay
// REMARK: remark: @region_result: 3 buffers of 3072 bytes in an arena of 3072, no arena is below 3072; 0 stay

// The buffer is read through each kind of view, last through the base of one: %b stands beside it.
// CHECK-LABEL: func.func @all_kinds
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<8192xi8>
// CHECK-NOT: memref.alloc
// CHECK: memref.dealloc
func.func @all_kinds(%x: f32, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4096xi8>
  %typed = memref.view %a[%c0][] : memref<4096xi8> to memref<1024xf32>
  linalg.fill ins(%x : f32) outs(%typed : memref<1024xf32>)
  %b = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<1024xf32>)
  %square = memref.expand_shape %typed [[0, 1]] output_shape [32, 32] : memref<1024xf32> into memref<32x32xf32>
  %turned = memref.transpose %square (i, j) -> (j, i) : memref<32x32xf32> to memref<32x32xf32, strided<[1, 32]>>
  %row = memref.subview %turned[%i, 0] [1, 32] [1, 1] : memref<32x32xf32, strided<[1, 32]>> to memref<32xf32, strided<[32], offset: ?>>
  %loose = memref.cast %row : memref<32xf32, strided<[32], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %loose : memref<?xf32, strided<[?], offset: ?>> -> memref<f32>, index, index, index
  %again = memref.reinterpret_cast %base to offset: [%offset], sizes: [%size], strides: [%stride] : memref<f32> to memref<?xf32, strided<[?], offset: ?>>
  %y = memref.load %again[%c0] : memref<?xf32, strided<[?], offset: ?>>
  %z = memref.load %b[%c0] : memref<1024xf32>
  %sum = arith.addf %y, %z : f32
  memref.dealloc %a : memref<4096xi8>
  memref.dealloc %b : memref<1024xf32>
  return %sum : f32
}

// One of two buffers: both are held, and a write to it ends the bytes of neither.
// CHECK-LABEL: func.func @chosen
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<3072xi8>
func.func @chosen(%which: i1, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  %either = arith.select %which, %a, %b : memref<256xf32>
  %c = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%c : memref<256xf32>)
  linalg.exp ins(%c : memref<256xf32>) outs(%either : memref<256xf32>)
  %y = memref.load %a[%c0] : memref<256xf32>
  %z = memref.load %b[%c0] : memref<256xf32>
  %sum = arith.addf %y, %z : f32
  return %sum : f32
}

// The result of a conditional, in a loop: a buffer of the same iteration, so they can be placed; one
// of two, so both are held.
// CHECK-LABEL: func.func @region_result
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<3072xi8>
func.func @region_result(%n: index, %which: i1, %x: f32, %out: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %made = scf.if %which -> (memref<256xf32>) {
      %a = memref.alloc() : memref<256xf32>
      linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
      scf.yield %a : memref<256xf32>
    } else {
      %b = memref.alloc() : memref<256xf32>
      linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
      scf.yield %b : memref<256xf32>
    }
    %c = memref.alloc() : memref<256xf32>
    linalg.exp ins(%made : memref<256xf32>) outs(%c : memref<256xf32>)
    memref.dealloc %made : memref<256xf32>
    memref.copy %c, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %c : memref<256xf32>
  }
  return
}
