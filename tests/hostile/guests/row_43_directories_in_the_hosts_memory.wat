;; Lists its folder 900 times and drops no list, of which the host holds every name.
(component
  (import "wasi:filesystem/types@0.2.0" (instance $types
    (export "descriptor" (type $descriptor (sub resource)))
    (export "directory-entry-stream" (type $stream (sub resource)))
    (type $error_code_ (enum "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota"
      "exist" "file-too-large" "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io"
      "is-directory" "loop" "too-many-links" "message-size" "name-too-long" "no-device" "no-entry"
      "no-lock" "insufficient-memory" "insufficient-space" "not-directory" "not-empty" "not-recoverable"
      "unsupported" "no-tty" "no-such-device" "overflow" "not-permitted" "pipe" "read-only"
      "invalid-seek" "text-file-busy" "cross-device"))
    (export "error-code" (type $error_code (eq $error_code_)))
    (export "[method]descriptor.read-directory"
      (func (param "self" (borrow $descriptor)) (result (result (own $stream) (error $error_code)))))))
  (alias export $types "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $descriptor_))
    (export "descriptor" (type $descriptor (eq $descriptor_)))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))
  (core module $memory
    (memory (export "memory") 2)
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param $old i32) (param $size i32) (param $align i32) (param $new i32) (result i32)
      (global.get $next)
      (global.set $next (i32.and (i32.add (i32.add (global.get $next) (local.get $new)) (i32.const 7)) (i32.const -8)))))
  (core instance $memory (instantiate $memory))
  (core func $directories (canon lower (func $preopens "get-directories")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $list (canon lower (func $types "[method]descriptor.read-directory") (memory (core memory $memory "memory"))))
  (core module $main
    (import "host" "directories" (func $directories (param i32)))
    (import "host" "list" (func $list (param i32 i32)))
    (import "host" "memory" (memory 2))
    (func (export "run") (result i32) (local $left i32) (local $folder i32)
      (call $directories (i32.const 0))
      (local.set $folder (i32.load (i32.load (i32.const 0))))
      (local.set $left (i32.const 900))
      (loop $again
        (call $list (local.get $folder) (i32.const 16))
        (if (i32.load8_u (i32.const 16)) (then (unreachable)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $again (local.get $left)))
      (i32.const 0)))
  (core instance $main (instantiate $main (with "host" (instance
    (export "directories" (func $directories))
    (export "list" (func $list))
    (export "memory" (memory $memory "memory"))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
