;; Does work of which every step is counted.
(module
  (memory (export "memory") 1)
  (global $sum (mut i64) (i64.const 0))
  (func (export "_start")
    (loop $again
      (global.set $sum (i64.add (global.get $sum) (i64.const 1)))
      (br $again))))
