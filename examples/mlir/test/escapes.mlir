// What goes out of sight stays as it is, and a remark says where it went.
// RUN: %opt --allow-unregistered-dialect --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(dramalloc{summary=true})' %s | FileCheck %s

// CHECK-LABEL: func.func @returned
// CHECK: %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK: return %[[A]]
func.func @returned() -> memref<8xf32> {
  // expected-remark @below {{%alloc stays as it is: it is returned}}
  %a = memref.alloc() : memref<8xf32>
  return %a : memref<8xf32> // expected-note {{here}}
}

// -----

// Through a view, too.
func.func private @somewhere(memref<?xf32>)
func.func @called() {
  // expected-remark @below {{%alloc stays as it is: it is passed to a call}}
  %a = memref.alloc() : memref<8xf32>
  %b = memref.cast %a : memref<8xf32> to memref<?xf32>
  call @somewhere(%b) : (memref<?xf32>) -> () // expected-note {{here}}
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// A memref in a memref: whoever loads it has it. The one that holds it is no buffer of numbers.
func.func @stored() {
  // expected-remark @below {{stays as it is: what this operation does with it is not known}}
  %a = memref.alloc() : memref<8xf32>
  // expected-remark @below {{stays as it is: the size of its elements depends on how they are lowered}}
  %box = memref.alloc() : memref<memref<8xf32>>
  memref.store %a, %box[] : memref<memref<8xf32>> // expected-note {{here}}
  return
}

// -----

func.func @unknown_operation() {
  // expected-remark @below {{what this operation does with it is not known}}
  %a = memref.alloc() : memref<8xf32>
  "some.thing"(%a) : (memref<8xf32>) -> () // expected-note {{here}}
  return
}

// -----

func.func @pointer() -> index {
  // expected-remark @below {{what this operation does with it is not known}}
  %a = memref.alloc() : memref<8xf32>
  // expected-note @below {{here}}
  %p = memref.extract_aligned_pointer_as_index %a : memref<8xf32> -> index
  return %p : index
}

// -----

// Runs on when the operation has returned.
func.func @later(%x: f32) {
  %c0 = arith.constant 0 : index
  // expected-remark @below {{it is used where it is not known when that runs}}
  %a = memref.alloc() : memref<8xf32>
  %token = async.execute {
    memref.store %x, %a[%c0] : memref<8xf32> // expected-note {{here}}
    async.yield
  }
  async.await %token : !async.token
  memref.dealloc %a : memref<8xf32>
  return
}

// -----

// A transfer that goes on after the operation which starts it.
func.func @dma(%to: memref<8xf32, 1>, %tag: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-remark @below {{what this operation does with it is not known}}
  %a = memref.alloc() : memref<8xf32>
  // expected-note @below {{here}}
  memref.dma_start %a[%c0], %to[%c0], %c8, %tag[%c0] : memref<8xf32>, memref<8xf32, 1>, memref<1xi32>
  return
}

// -----

// The other one is placed all the same.
// CHECK-LABEL: func.func @beside
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<32xi8>
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: memref.view
// expected-remark @below {{@beside: 1 buffers of 32 bytes in an arena of 32, no arena is below 32; 1 stay}}
func.func @beside(%x: f32) -> memref<8xf32> {
  // expected-remark @below {{it is returned}}
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<8xf32>)
  memref.copy %b, %a : memref<8xf32> to memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return %a : memref<8xf32> // expected-note {{here}}
}

// -----

// The dealloc frees one that is returned otherwise, or one that is not: it cannot go.
func.func @freed_together(%which: i1, %given: memref<8xf32>) {
  // expected-remark @below {{what frees it may also free something that stays}}
  %a = memref.alloc() : memref<8xf32>
  %either = arith.select %which, %a, %given : memref<8xf32>
  memref.dealloc %either : memref<8xf32> // expected-note {{here}}
  return
}

// -----

// Where control goes is not known: nothing in the function is placed.
// expected-remark @below {{@lost is left alone: where control goes is not known}}
func.func @lost(%x: f32) {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
  "some.branch"()[^one, ^two] : () -> () // expected-note {{here}}
^one:
  return
^two:
  return
}

// -----

// Inside an operation that is not known, nothing is: not what it allocates, nor what it uses.
func.func @around(%x: f32) {
  // expected-remark @below {{it is used where it is not known when that runs}}
  %a = memref.alloc() : memref<8xf32>
  // expected-note @below {{here}}
  "some.region"() ({
    // expected-remark @below {{it is allocated where several may exist at once}}
    %b = memref.alloc() : memref<8xf32>
    // expected-note @below {{here}}
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%b : memref<8xf32>)
    "some.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

// A region inside a parallel loop that hands a memref on is more than a step can say.
func.func @inner_yield(%n: index, %which: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{what this operation does with it is not known}}
  %a = memref.alloc() : memref<8xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %b = scf.if %which -> (memref<8xf32>) {
      scf.yield %a : memref<8xf32>
    } else {
      scf.yield %a : memref<8xf32> // expected-note {{here}}
    }
    memref.store %x, %b[%c0] : memref<8xf32>
  }
  return
}
