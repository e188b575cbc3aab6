;; Copies 59 MiB by a byte in one instruction, again and again.
(module
  (memory (export "memory") 944)
  (func (export "_start")
    (loop $again
      (memory.copy (i32.const 1) (i32.const 0) (i32.const 61_865_983))
      (br $again))))
