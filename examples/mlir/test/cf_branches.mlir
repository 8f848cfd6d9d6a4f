// Unstructured control flow: blocks are blocks, and block arguments are what they are given.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @diamond: 3 buffers of 3072 bytes in an arena of 3072, no arena is below 3072; 0 stay
// REMARK: remark: @arms: 3 buffers of 3072 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: @exits: 1 buffers of 1024 bytes
// REMARK: stays as it is: one of an earlier iteration may be in use when the next is allocated
// REMARK: remark: @switched: 2 buffers

// The arms make one each, and the last block reads either: a value that may be one of two buffers
// holds both of them.
// CHECK-LABEL: func.func @diamond
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<3072xi8>
// CHECK-NOT: memref.alloc
// CHECK: memref.dealloc
// CHECK-NEXT: return
func.func @diamond(%which: i1, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %common = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%common : memref<256xf32>)
  cf.cond_br %which, ^left, ^right
^left:
  %a = memref.alloc() : memref<256xf32>
  linalg.exp ins(%common : memref<256xf32>) outs(%a : memref<256xf32>)
  cf.br ^join(%a : memref<256xf32>)
^right:
  %b = memref.alloc() : memref<256xf32>
  linalg.log ins(%common : memref<256xf32>) outs(%b : memref<256xf32>)
  cf.br ^join(%b : memref<256xf32>)
^join(%either: memref<256xf32>):
  %y = memref.load %either[%c0] : memref<256xf32>
  %z = memref.load %common[%c0] : memref<256xf32>
  %sum = arith.addf %y, %z : f32
  memref.dealloc %either : memref<256xf32>
  memref.dealloc %common : memref<256xf32>
  return %sum : f32
}

// Each arm reads its own: they share, beside what both read.
// CHECK-LABEL: func.func @arms
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<2048xi8>
// CHECK: cf.cond_br
// CHECK: memref.view %{{.*}}[%[[AT:.*]]][]
// CHECK: cf.br
// CHECK: memref.view %{{.*}}[%[[AT]]][]
// CHECK: cf.br
func.func @arms(%which: i1, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %common = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%common : memref<256xf32>)
  cf.cond_br %which, ^left, ^right
^left:
  %a = memref.alloc() : memref<256xf32>
  linalg.exp ins(%common : memref<256xf32>) outs(%a : memref<256xf32>)
  %y = memref.load %a[%c0] : memref<256xf32>
  memref.dealloc %a : memref<256xf32>
  cf.br ^join(%y : f32)
^right:
  %b = memref.alloc() : memref<256xf32>
  linalg.log ins(%common : memref<256xf32>) outs(%b : memref<256xf32>)
  %z = memref.load %b[%c0] : memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  cf.br ^join(%z : f32)
^join(%either: f32):
  %w = memref.load %common[%c0] : memref<256xf32>
  %sum = arith.addf %either, %w : f32
  memref.dealloc %common : memref<256xf32>
  return %sum : f32
}

// The arena is freed at every exit.
// CHECK-LABEL: func.func @exits
// CHECK: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1024xi8>
// CHECK: memref.dealloc %[[ARENA]]
// CHECK-NEXT: return
// CHECK: memref.dealloc %[[ARENA]]
// CHECK-NEXT: return
func.func @exits(%which: i1, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  cf.cond_br %which, ^one, ^two
^one:
  %y = memref.load %a[%c0] : memref<256xf32>
  memref.dealloc %a : memref<256xf32>
  return %y : f32
^two:
  memref.dealloc %a : memref<256xf32>
  return %x : f32
}

// A cycle of blocks that hands its buffer round.
// CHECK-LABEL: func.func @cycle
// CHECK: memref.alloc() : memref<256xf32>
func.func @cycle(%n: index, %x: f32, %given: memref<256xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %given : index, memref<256xf32>)
^head(%i: index, %old: memref<256xf32>):
  %more = arith.cmpi ult, %i, %n : index
  cf.cond_br %more, ^body, ^done
^body:
  %new = memref.alloc() : memref<256xf32>
  linalg.exp ins(%old : memref<256xf32>) outs(%new : memref<256xf32>)
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %new : index, memref<256xf32>)
^done:
  %y = memref.load %old[%c0] : memref<256xf32>
  return %y : f32
}

// CHECK-LABEL: func.func @switched
func.func @switched(%which: i32, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  cf.switch %which : i32, [default: ^use(%a : memref<256xf32>), 7: ^use(%b : memref<256xf32>)]
^use(%either: memref<256xf32>):
  linalg.fill ins(%x : f32) outs(%either : memref<256xf32>)
  %y = memref.load %either[%c0] : memref<256xf32>
  return %y : f32
}
