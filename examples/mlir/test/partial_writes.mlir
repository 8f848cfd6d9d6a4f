// A write to a part leaves the rest wanted; a write to all of it ends the old bytes.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @part: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: @whole: 2 buffers of 2048 bytes in an arena of 1024, no arena is below 1024; 0 stay
// REMARK: remark: @reduction: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: @empty_loop: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: @one_element: 2 buffers of 8 bytes in an arena of 4, no arena is below 4; 0 stay
// REMARK: remark: @maybe: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay

// While %b is used, %a holds what it was filled with; the subview changes half of it.
// CHECK-LABEL: func.func @part
func.func @part(%x: f32, %out: memref<256xf32>) {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  %half = memref.subview %a[0] [128] [1] : memref<256xf32> to memref<128xf32, strided<[1]>>
  linalg.fill ins(%x : f32) outs(%half : memref<128xf32, strided<[1]>>)
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  return
}

// The same, but all of %a is written anew: between the uses, its bytes are free. Through a shape
// that is only expanded and collapsed it is all of it, too.
// CHECK-LABEL: func.func @whole
func.func @whole(%x: f32, %out: memref<256xf32>) {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  %square = memref.expand_shape %a [[0, 1]] output_shape [16, 16] : memref<256xf32> into memref<16x16xf32>
  linalg.fill ins(%x : f32) outs(%square : memref<16x16xf32>)
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  return
}

// A reduction reads what it adds to.
// CHECK-LABEL: func.func @reduction
func.func @reduction(%x: f32, %lhs: memref<16x4xf32>, %rhs: memref<4x16xf32>, %out: memref<16x16xf32>) {
  %a = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<16x16xf32>)
  %b = memref.alloc() : memref<16x16xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<16x16xf32>)
  memref.copy %b, %out : memref<16x16xf32> to memref<16x16xf32>
  linalg.matmul ins(%lhs, %rhs : memref<16x4xf32>, memref<4x16xf32>) outs(%a : memref<16x16xf32>)
  memref.copy %a, %out : memref<16x16xf32> to memref<16x16xf32>
  return
}

// A loop that the output does not see may run no times, and then nothing is written.
// CHECK-LABEL: func.func @empty_loop
func.func @empty_loop(%x: f32, %given: memref<?xf32>, %out: memref<256xf32>) {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%given : memref<?xf32>) outs(%a : memref<256xf32>) {
  ^bb0(%new: f32, %old: f32):
    linalg.yield %new : f32
  }
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  return
}

// A store is all of a buffer of one element.
// CHECK-LABEL: func.func @one_element
func.func @one_element(%x: f32, %out: memref<f32>) {
  %a = memref.alloc() : memref<f32>
  %b = memref.alloc() : memref<1xf32>
  %c0 = arith.constant 0 : index
  memref.store %x, %a[] : memref<f32>
  %y = memref.load %a[] : memref<f32>
  memref.store %y, %b[%c0] : memref<1xf32>
  %z = memref.load %b[%c0] : memref<1xf32>
  memref.store %z, %a[] : memref<f32>
  memref.copy %a, %out : memref<f32> to memref<f32>
  return
}

// Overwritten under a condition is not overwritten.
// CHECK-LABEL: func.func @maybe
func.func @maybe(%which: i1, %x: f32, %out: memref<256xf32>) {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  scf.if %which {
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  }
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  return
}
