// Three layers of a network, printed before and after: the numbers are the same, in fewer bytes.
// RUN: %run %s | FileCheck %s
// RUN: %run --options='strategy=best alignment=4' %s | FileCheck %s
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>&1 | FileCheck %s --check-prefix=PLAN

// PLAN: remark: @main: 5 buffers of 1280 bytes in an arena of 768, no arena is below 768; 0 stay

// CHECK: 16
// CHECK-NEXT: 256
// CHECK-NEXT: 524288
func.func private @printI64(i64)
func.func private @printNewline()

func.func @main() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %weights = memref.alloc() : memref<8x8xi32>
  linalg.fill ins(%two : i32) outs(%weights : memref<8x8xi32>)
  %x0 = memref.alloc() : memref<8x8xi32>
  linalg.fill ins(%one : i32) outs(%x0 : memref<8x8xi32>)

  %x1 = memref.alloc() : memref<8x8xi32>
  linalg.fill ins(%zero : i32) outs(%x1 : memref<8x8xi32>)
  linalg.matmul ins(%x0, %weights : memref<8x8xi32>, memref<8x8xi32>) outs(%x1 : memref<8x8xi32>)
  memref.dealloc %x0 : memref<8x8xi32>

  %x2 = memref.alloc() : memref<8x8xi32>
  linalg.fill ins(%zero : i32) outs(%x2 : memref<8x8xi32>)
  linalg.matmul ins(%x1, %weights : memref<8x8xi32>, memref<8x8xi32>) outs(%x2 : memref<8x8xi32>)
  %y1 = memref.load %x1[%c0, %c0] : memref<8x8xi32>
  memref.dealloc %x1 : memref<8x8xi32>

  %x3 = memref.alloc() : memref<8x8xi32>
  linalg.fill ins(%zero : i32) outs(%x3 : memref<8x8xi32>)
  linalg.matmul ins(%x2, %x2 : memref<8x8xi32>, memref<8x8xi32>) outs(%x3 : memref<8x8xi32>)
  %y2 = memref.load %x2[%c0, %c0] : memref<8x8xi32>
  %y3 = memref.load %x3[%c0, %c0] : memref<8x8xi32>

  %w1 = arith.extsi %y1 : i32 to i64
  %w2 = arith.extsi %y2 : i32 to i64
  %w3 = arith.extsi %y3 : i32 to i64
  call @printI64(%w1) : (i64) -> ()
  call @printNewline() : () -> ()
  call @printI64(%w2) : (i64) -> ()
  call @printNewline() : () -> ()
  call @printI64(%w3) : (i64) -> ()
  call @printNewline() : () -> ()
  memref.dealloc %x2 : memref<8x8xi32>
  memref.dealloc %x3 : memref<8x8xi32>
  memref.dealloc %weights : memref<8x8xi32>
  return
}
