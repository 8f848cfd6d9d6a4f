// Every kind of access that is known: it reads, or it writes a part, and the buffer can be placed.
// RUN: %opt --pass-pipeline='builtin.module(dramalloc{print-program=true summary=true})' %s 2>%t.program | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROGRAM < %t.program

// What is written is one element, whichever it is: the same life as any other part.
// PROGRAM: {"op":"vector.transfer_write","defs":[{"loc":"%alloc","offset":0,"bytes":4}]},
// PROGRAM: {"op":"vector.transfer_read","uses":["%alloc"]},
// PROGRAM: {"op":"vector.store","defs":[{"loc":"%alloc","offset":0,"bytes":4}]},
// PROGRAM: {"op":"vector.load","uses":["%alloc"]},
// PROGRAM: {"op":"vector.maskedload","uses":["%alloc"]},
// PROGRAM: {"op":"memref.store","defs":[{"loc":"%alloc","offset":0,"bytes":4}]},
// PROGRAM: {"op":"memref.load","uses":["%alloc"]},
// PROGRAM: {"op":"memref.atomic_rmw","uses":["%alloc"],"defs":[{"loc":"%alloc","offset":0,"bytes":4}]},
// PROGRAM: {"op":"memref.generic_atomic_rmw","uses":["%alloc"],"defs":[{"loc":"%alloc","offset":0,"bytes":4}]},
// PROGRAM: {"op":"linalg.fill","defs":["%alloc"]},
// PROGRAM: {"op":"memref.copy","uses":["%alloc"],"defs":["%alloc_0"]},
// PROGRAM: {"op":"linalg.reduce","uses":["%alloc_0","%alloc_1"],"defs":["%alloc_1"]},
// PROGRAM: {"op":"linalg.generic","uses":["%alloc"],"defs":["%alloc_0"]}
// PROGRAM: remark: @kinds: 3 buffers of 516 bytes {{.*}}; 0 stay

// CHECK-LABEL: func.func @kinds
// CHECK-NOT: memref.alloc() : memref<64xf32>
func.func @kinds(%x: f32, %v: vector<8xf32>, %mask: vector<8xi1>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  %one = memref.alloc() : memref<f32>
  vector.transfer_write %v, %a[%c0] : vector<8xf32>, memref<64xf32>
  %0 = vector.transfer_read %a[%c0], %x : memref<64xf32>, vector<8xf32>
  vector.store %v, %a[%c0] : memref<64xf32>, vector<8xf32>
  %1 = vector.load %a[%c0] : memref<64xf32>, vector<8xf32>
  %2 = vector.maskedload %a[%c0], %mask, %v : memref<64xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  memref.store %x, %a[%c0] : memref<64xf32>
  %3 = memref.load %a[%c0] : memref<64xf32>
  %4 = memref.atomic_rmw addf %x, %a[%c0] : (f32, memref<64xf32>) -> f32
  %5 = memref.generic_atomic_rmw %a[%c0] : memref<64xf32> {
  ^bb0(%old: f32):
    %new = arith.mulf %old, %x : f32
    memref.atomic_yield %new : f32
  }
  %size = memref.dim %a, %c0 : memref<64xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<64xf32>)
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  linalg.reduce { arith.addf } ins(%b : memref<64xf32>) outs(%one : memref<f32>) dimensions = [0]
  // The region of an operation reads what the operation does not name.
  linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      outs(%b : memref<64xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %y = memref.load %a[%i] : memref<64xf32>
    linalg.yield %y : f32
  }
  return
}
