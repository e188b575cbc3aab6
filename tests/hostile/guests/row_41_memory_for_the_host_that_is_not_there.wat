;; Asked for memory for the host's answer, it names a place beyond its own.
(component
  (import "wasi:random/random@0.2.0" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))
    (export "get-random-u64" (func (result u64)))))
  (core func $word (canon lower (func $random "get-random-u64")))
  (core module $memory
    (import "host" "word" (func $word (result i64)))
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (i32.const 0xffff_ff00)))
  (core instance $memory (instantiate $memory (with "host" (instance (export "word" (func $word))))))
  (core func $random (canon lower (func $random "get-random-bytes")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core module $main
    (import "host" "random" (func $random (param i64 i32)))
    (func (export "run") (result i32)
      (call $random (i64.const 1000) (i32.const 0))
      (i32.const 0)))
  (core instance $main (instantiate $main (with "host" (instance (export "random" (func $random))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
