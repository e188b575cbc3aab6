;; Fills 59 MiB in one instruction, again and again.
(module
  (memory (export "memory") 944)
  (func (export "_start")
    (loop $again
      (memory.fill (i32.const 0) (i32.const 1) (i32.const 61_865_984))
      (br $again))))
