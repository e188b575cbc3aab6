;; Ends at an instruction that traps, three calls deep.
(module
  (memory (export "memory") 1)
  (func $innermost unreachable)
  (func $inner (call $innermost))
  (func $outer (export "_start") (call $inner)))
