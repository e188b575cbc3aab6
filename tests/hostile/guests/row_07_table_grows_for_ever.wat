;; Makes a table larger and larger, and traps when refused.
(module
  (memory (export "memory") 1)
  (table $table 0 funcref)
  (func (export "_start")
    (loop $again
      (br_if $again
        (i32.ne (table.grow $table (ref.null func) (i32.const 1000)) (i32.const -1))))
    (unreachable)))
