// Buffers of all element types side by side, without a byte between them: what each was given is there
// when all have been written, from the last to the first.
// RUN: %run --options='alignment=1' %s | FileCheck %s
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{alignment=1 summary=true})' %s 2>&1 | FileCheck %s --check-prefix=PLAN

// PLAN: remark: @main: 8 buffers of 116 bytes in an arena of {{[0-9]+}}, no arena is below 116; 0 stay

// CHECK: -1
// CHECK-NEXT: -3
// CHECK-NEXT: -515
// CHECK-NEXT: 70007
// CHECK-NEXT: 80000000008
// CHECK-NEXT: 9
// CHECK-NEXT: 2
// CHECK-NEXT: 11
func.func private @printI64(i64)
func.func private @printNewline()

func.func @print(%x: i64) {
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %last = arith.constant 2 : index
  %bit = arith.constant true
  %byte = arith.constant -3 : i8
  %short = arith.constant -515 : i16
  %int = arith.constant 70007 : i32
  %long = arith.constant 80000000008 : i64
  %size = arith.constant 9 : index
  %single = arith.constant 2.5 : f32
  %double = arith.constant 11.25 : f64
  %a = memref.alloc() : memref<3xi1>
  %b = memref.alloc() : memref<3xi8>
  %c = memref.alloc() : memref<3xi16>
  %d = memref.alloc() : memref<3xi32>
  %e = memref.alloc() : memref<3xi64>
  %f = memref.alloc() : memref<3xindex>
  %g = memref.alloc() : memref<3xf32>
  %h = memref.alloc() : memref<2x2xf64>
  linalg.fill ins(%double : f64) outs(%h : memref<2x2xf64>)
  linalg.fill ins(%single : f32) outs(%g : memref<3xf32>)
  linalg.fill ins(%size : index) outs(%f : memref<3xindex>)
  linalg.fill ins(%long : i64) outs(%e : memref<3xi64>)
  linalg.fill ins(%int : i32) outs(%d : memref<3xi32>)
  linalg.fill ins(%short : i16) outs(%c : memref<3xi16>)
  linalg.fill ins(%byte : i8) outs(%b : memref<3xi8>)
  linalg.fill ins(%bit : i1) outs(%a : memref<3xi1>)
  %0 = memref.load %a[%last] : memref<3xi1>
  %1 = memref.load %b[%last] : memref<3xi8>
  %2 = memref.load %c[%last] : memref<3xi16>
  %3 = memref.load %d[%last] : memref<3xi32>
  %4 = memref.load %e[%last] : memref<3xi64>
  %5 = memref.load %f[%last] : memref<3xindex>
  %6 = memref.load %g[%c0] : memref<3xf32>
  %7 = memref.load %h[%c0, %c0] : memref<2x2xf64>
  %p0 = arith.extsi %0 : i1 to i64
  %p1 = arith.extsi %1 : i8 to i64
  %p2 = arith.extsi %2 : i16 to i64
  %p3 = arith.extsi %3 : i32 to i64
  %p5 = arith.index_cast %5 : index to i64
  %p6 = arith.fptosi %6 : f32 to i64
  %p7 = arith.fptosi %7 : f64 to i64
  call @print(%p0) : (i64) -> ()
  call @print(%p1) : (i64) -> ()
  call @print(%p2) : (i64) -> ()
  call @print(%p3) : (i64) -> ()
  call @print(%4) : (i64) -> ()
  call @print(%p5) : (i64) -> ()
  call @print(%p6) : (i64) -> ()
  call @print(%p7) : (i64) -> ()
  return
}
