;; Asks for a mebibyte of random bytes, again and again.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 32)
  (func (export "_start")
    (loop $again
      (if (call $random (i32.const 0) (i32.const 0x100000)) (then (unreachable)))
      (br $again))))
