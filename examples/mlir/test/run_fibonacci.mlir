// Buffers that go round: two swapped by a loop, one made anew in every turn of a cycle of blocks, and
// one chosen by a conditional.
// RUN: %run %s | FileCheck %s
// RUN: %run --options='strategy=reference alignment=8' %s | FileCheck %s

// CHECK: 89
// CHECK-NEXT: 1024
// CHECK-NEXT: 144
func.func private @printI64(i64)
func.func private @printNewline()

func.func @fibonacci(%n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %a = memref.alloc() : memref<1xi64>
  %b = memref.alloc() : memref<1xi64>
  memref.store %one, %a[%c0] : memref<1xi64>
  memref.store %one, %b[%c0] : memref<1xi64>
  %p, %q = scf.for %i = %c1 to %n step %c1 iter_args(%last = %a, %older = %b)
      -> (memref<1xi64>, memref<1xi64>) {
    %x = memref.load %last[%c0] : memref<1xi64>
    %y = memref.load %older[%c0] : memref<1xi64>
    %sum = memref.alloc() : memref<1xi64>
    %z = arith.addi %x, %y : i64
    memref.store %z, %sum[%c0] : memref<1xi64>
    memref.copy %sum, %older : memref<1xi64> to memref<1xi64>
    memref.dealloc %sum : memref<1xi64>
    scf.yield %older, %last : memref<1xi64>, memref<1xi64>
  }
  %result = memref.load %p[%c0] : memref<1xi64>
  memref.dealloc %p : memref<1xi64>
  memref.dealloc %q : memref<1xi64>
  return %result : i64
}

// Doubles into a new buffer each time: the old one is wanted while the new one is written.
func.func @doubled(%n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %first = memref.alloc() : memref<4xi64>
  linalg.fill ins(%one : i64) outs(%first : memref<4xi64>)
  cf.br ^head(%c0, %first : index, memref<4xi64>)
^head(%i: index, %old: memref<4xi64>):
  %more = arith.cmpi ult, %i, %n : index
  cf.cond_br %more, ^body, ^done
^body:
  %new = memref.alloc() : memref<4xi64>
  linalg.generic {indexing_maps = [affine_map<(d) -> (3 - d)>, affine_map<(d) -> (d)>],
                  iterator_types = ["parallel"]}
      ins(%old : memref<4xi64>) outs(%new : memref<4xi64>) {
  ^bb0(%x: i64, %out: i64):
    %double = arith.addi %x, %x : i64
    linalg.yield %double : i64
  }
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %new : index, memref<4xi64>)
^done:
  %result = memref.load %old[%c1] : memref<4xi64>
  return %result : i64
}

func.func @chosen(%n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant 100 : i64
  %two = arith.constant 2 : i64
  %held = memref.alloc() : memref<2xi64>
  linalg.fill ins(%two : i64) outs(%held : memref<2xi64>)
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %held[%c0] : memref<2xi64>
    %small = arith.cmpi slt, %x, %limit : i64
    %made = scf.if %small -> (memref<2xi64>) {
      %a = memref.alloc() : memref<2xi64>
      %y = arith.muli %x, %two : i64
      %z = arith.addi %y, %two : i64
      linalg.fill ins(%z : i64) outs(%a : memref<2xi64>)
      scf.yield %a : memref<2xi64>
    } else {
      %b = memref.alloc() : memref<2xi64>
      %y = arith.addi %x, %two : i64
      linalg.fill ins(%y : i64) outs(%b : memref<2xi64>)
      scf.yield %b : memref<2xi64>
    }
    %part = memref.subview %made[1] [1] [1] : memref<2xi64> to memref<1xi64, strided<[1], offset: 1>>
    %w = memref.load %part[%c0] : memref<1xi64, strided<[1], offset: 1>>
    memref.dealloc %made : memref<2xi64>
    memref.store %w, %held[%c0] : memref<2xi64>
  }
  %result = memref.load %held[%c0] : memref<2xi64>
  memref.dealloc %held : memref<2xi64>
  return %result : i64
}

func.func @main() {
  %c10 = arith.constant 10 : index
  %c14 = arith.constant 14 : index
  %x = call @fibonacci(%c10) : (index) -> i64
  call @printI64(%x) : (i64) -> ()
  call @printNewline() : () -> ()
  %y = call @doubled(%c10) : (index) -> i64
  call @printI64(%y) : (i64) -> ()
  call @printNewline() : () -> ()
  %z = call @chosen(%c14) : (index) -> i64
  call @printI64(%z) : (i64) -> ()
  call @printNewline() : () -> ()
  return
}
