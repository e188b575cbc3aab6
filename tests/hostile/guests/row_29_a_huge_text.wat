;; Has the host look up a name of 48 MiB.
(component
  (import "wasi:sockets/network@0.2.0" (instance $network
    (export "network" (type $network (sub resource)))
    (type $error_code_ (enum "unknown" "access-denied" "not-supported" "invalid-argument" "out-of-memory"
      "timeout" "concurrency-conflict" "not-in-progress" "would-block" "invalid-state" "new-socket-limit"
      "address-not-bindable" "address-in-use" "remote-unreachable" "connection-refused" "connection-reset"
      "connection-aborted" "datagram-too-large" "name-unresolvable" "temporary-resolver-failure"
      "permanent-resolver-failure"))
    (export "error-code" (type $error_code (eq $error_code_)))))
  (alias export $network "network" (type $network))
  (alias export $network "error-code" (type $error_code))
  (import "wasi:sockets/instance-network@0.2.0" (instance $instance
    (alias outer 1 $network (type $network_))
    (export "network" (type $network (eq $network_)))
    (export "instance-network" (func (result (own $network))))))
  (import "wasi:sockets/ip-name-lookup@0.2.0" (instance $lookup
    (alias outer 1 $network (type $network_))
    (export "network" (type $network (eq $network_)))
    (alias outer 1 $error_code (type $error_code_))
    (export "error-code" (type $error_code (eq $error_code_)))
    (export "resolve-address-stream" (type $stream (sub resource)))
    (export "resolve-addresses" (func
      (param "network" (borrow $network)) (param "name" string)
      (result (result (own $stream) (error $error_code)))))))
  (core module $memory (memory (export "memory") 770))
  (core instance $memory (instantiate $memory))
  (core func $instance (canon lower (func $instance "instance-network")))
  (core func $resolve (canon lower (func $lookup "resolve-addresses") (memory (core memory $memory "memory"))))
  (core module $main
    (import "host" "instance" (func $instance (result i32)))
    (import "host" "resolve" (func $resolve (param i32 i32 i32 i32)))
    (import "host" "memory" (memory 770))
    (func (export "run") (result i32)
      (memory.fill (i32.const 1024) (i32.const 97) (i32.const 0x3000000))
      (call $resolve (call $instance) (i32.const 1024) (i32.const 0x3000000) (i32.const 0))
      (i32.const 0)))
  (core instance $main (instantiate $main (with "host" (instance
    (export "instance" (func $instance))
    (export "resolve" (func $resolve))
    (export "memory" (memory $memory "memory"))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
