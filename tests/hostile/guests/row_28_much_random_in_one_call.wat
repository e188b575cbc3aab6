;; Asks for 32 MiB of random bytes in one call.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 768)
  (func (export "_start")
    (drop (call $random (i32.const 0) (i32.const 0x2000000)))))
