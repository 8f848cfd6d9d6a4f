// The other operations whose regions run one at a time: their buffers share like those of scf.if.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{summary=true})' %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// REMARK: remark: @cases: 3 buffers of 3072 bytes in an arena of 1024, no arena is below 1024; 0 stay
// REMARK: remark: @blocks_inside: 2 buffers of 2048 bytes in an arena of 1024, no arena is below 1024; 0 stay
// REMARK: remark: @scope: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay
// REMARK: remark: @affine_if: 2 buffers of 2048 bytes in an arena of 1024, no arena is below 1024; 0 stay
// REMARK: remark: @once_at_least: 2 buffers of 2048 bytes in an arena of 1024, no arena is below 1024; 0 stay
// REMARK: remark: @perhaps_never: 2 buffers of 2048 bytes in an arena of 2048, no arena is below 2048; 0 stay

// CHECK-LABEL: func.func @cases
func.func @cases(%which: index, %x: f32, %out: memref<256xf32>) {
  scf.index_switch %which
  case 2 {
    %a = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
    memref.copy %a, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %a : memref<256xf32>
    scf.yield
  }
  case 5 {
    %b = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
    memref.copy %b, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %b : memref<256xf32>
    scf.yield
  }
  default {
    %c = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%c : memref<256xf32>)
    memref.copy %c, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %c : memref<256xf32>
  }
  return
}

// CHECK-LABEL: func.func @blocks_inside
func.func @blocks_inside(%which: i1, %x: f32, %out: memref<256xf32>) {
  scf.execute_region {
    cf.cond_br %which, ^one, ^two
  ^one:
    %a = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
    memref.copy %a, %out : memref<256xf32> to memref<256xf32>
    memref.dealloc %a : memref<256xf32>
    cf.br ^two
  ^two:
    scf.yield
  }
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  return
}

// What a scope hands out is the buffer.
// CHECK-LABEL: func.func @scope
func.func @scope(%x: f32, %out: memref<256xf32>) {
  %a = memref.alloca_scope -> (memref<256xf32>) {
    %inner = memref.alloc() : memref<256xf32>
    linalg.fill ins(%x : f32) outs(%inner : memref<256xf32>)
    memref.alloca_scope.return %inner : memref<256xf32>
  }
  %b = memref.alloc() : memref<256xf32>
  linalg.exp ins(%a : memref<256xf32>) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  return
}

// CHECK-LABEL: func.func @affine_if
func.func @affine_if(%n: index, %x: f32, %out: memref<256xf32>) {
  affine.for %i = 0 to %n {
    affine.if affine_set<(d) : (d - 4 >= 0)>(%i) {
      %a = memref.alloc() : memref<256xf32>
      affine.store %x, %a[%i] : memref<256xf32>
      %y = affine.load %a[%i] : memref<256xf32>
      affine.store %y, %out[%i] : memref<256xf32>
      memref.dealloc %a : memref<256xf32>
    } else {
      %b = memref.alloc() : memref<256xf32>
      affine.store %x, %b[%i] : memref<256xf32>
      %y = affine.load %b[%i] : memref<256xf32>
      affine.store %y, %out[%i] : memref<256xf32>
      memref.dealloc %b : memref<256xf32>
    }
  }
  return
}

// A loop that is known to run overwrites what it overwrites; one that may not, leaves it.
// CHECK-LABEL: func.func @once_at_least
func.func @once_at_least(%x: f32, %out: memref<256xf32>) {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  affine.for %i = 0 to 4 {
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  }
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  return
}

// CHECK-LABEL: func.func @perhaps_never
func.func @perhaps_never(%n: index, %x: f32, %out: memref<256xf32>) {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %out : memref<256xf32> to memref<256xf32>
  affine.for %i = 0 to %n {
    linalg.fill ins(%x : f32) outs(%a : memref<256xf32>)
  }
  memref.copy %a, %out : memref<256xf32> to memref<256xf32>
  return
}
