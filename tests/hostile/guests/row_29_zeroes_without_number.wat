;; Has the host write 2^60 zeroes.
(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type $error (sub resource)))))
  (alias export $error "error" (type $error))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (alias outer 1 $error (type $error_))
    (export "error" (type $error (eq $error_)))
    (type $stream_error_ (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream_error (eq $stream_error_)))
    (export "output-stream" (type $output (sub resource)))
    (export "[method]output-stream.write-zeroes"
      (func (param "self" (borrow $output)) (param "len" u64) (result (result (error $stream_error)))))))
  (alias export $streams "output-stream" (type $output))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $output (type $output_))
    (export "output-stream" (type $output (eq $output_)))
    (export "get-stdout" (func (result (own $output))))))
  (core module $memory (memory (export "memory") 1))
  (core instance $memory (instantiate $memory))
  (core func $stdout (canon lower (func $stdout "get-stdout")))
  (core func $zeroes (canon lower (func $streams "[method]output-stream.write-zeroes")
    (memory (core memory $memory "memory"))))
  (core module $main
    (import "host" "stdout" (func $stdout (result i32)))
    (import "host" "zeroes" (func $zeroes (param i32 i64 i32)))
    (func (export "run") (result i32)
      (call $zeroes (call $stdout) (i64.const 0x1000_0000_0000_0000) (i32.const 0))
      (i32.const 0)))
  (core instance $main (instantiate $main (with "host" (instance
    (export "stdout" (func $stdout))
    (export "zeroes" (func $zeroes))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
