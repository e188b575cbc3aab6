;; Takes a mebibyte after the other and writes to all of it; when refused it ends as if all were well.
(module
  (memory (export "memory") 16)
  (func (export "_start") (local $pages i32)
    (loop $again
      (local.set $pages (memory.grow (i32.const 16)))
      (if (i32.eq (local.get $pages) (i32.const -1)) (then (return)))
      (memory.fill
        (i32.shl (local.get $pages) (i32.const 16)) (i32.const 1) (i32.const 0x100000))
      (br $again))))
