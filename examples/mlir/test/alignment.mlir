// A buffer has the alignment of the option, of its attribute or of what is assumed, whichever is most.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc)' %s 2>&1 | FileCheck %s
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{alignment=1})' %s 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not %opt --pass-pipeline='builtin.module(dramalloc{alignment=48})' %s 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: dramalloc: alignment 48 is not a power of two up to 2^30

// Two small ones that live together, on lines of their own, or side by side.
// CHECK-LABEL: func.func @small
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<67xi8>
// ONE-LABEL: func.func @small
// ONE: memref.alloc() {alignment = 1 : i64} : memref<6xi8>
func.func @small(%x: i8, %out: memref<3xi8>) {
  %a = memref.alloc() : memref<3xi8>
  %b = memref.alloc() : memref<3xi8>
  linalg.fill ins(%x : i8) outs(%a : memref<3xi8>)
  linalg.fill ins(%x : i8) outs(%b : memref<3xi8>)
  memref.copy %a, %out : memref<3xi8> to memref<3xi8>
  memref.copy %b, %out : memref<3xi8> to memref<3xi8>
  return
}

// The arena is as aligned as the most aligned buffer.
// CHECK-LABEL: func.func @declared
// CHECK: memref.alloc() {alignment = 512 : i64} : memref<259xi8>
// CHECK-DAG: arith.constant 0 : index
// CHECK-DAG: arith.constant 256 : index
func.func @declared(%x: i8, %out: memref<3xi8>) {
  %a = memref.alloc() {alignment = 256 : i64} : memref<3xi8>
  %b = memref.alloc() : memref<3xi8>
  memref.assume_alignment %b, 512 : memref<3xi8>
  linalg.fill ins(%x : i8) outs(%a : memref<3xi8>)
  linalg.fill ins(%x : i8) outs(%b : memref<3xi8>)
  memref.copy %a, %out : memref<3xi8> to memref<3xi8>
  memref.copy %b, %out : memref<3xi8> to memref<3xi8>
  return
}
// The elements are aligned whatever the option says.
// ONE-LABEL: func.func @elements
// ONE: memref.alloc() {alignment = 8 : i64}
func.func @elements(%x: f64, %out: memref<3xf64>) {
  %a = memref.alloc() : memref<3xf64>
  linalg.fill ins(%x : f64) outs(%a : memref<3xf64>)
  memref.copy %a, %out : memref<3xf64> to memref<3xf64>
  return
}

// Of a part nothing can be promised.
// CHECK: func.func @of_a_part
// CHECK: memref.alloc() : memref<64xi8>
func.func @of_a_part() {
  %a = memref.alloc() : memref<64xi8>
  %part = memref.subview %a[4] [8] [1] : memref<64xi8> to memref<8xi8, strided<[1], offset: 4>>
  memref.assume_alignment %part, 32 : memref<8xi8, strided<[1], offset: 4>>
  return
}
