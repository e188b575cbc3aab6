;; Two functions call each other without end, through a table.
(module
  (memory (export "memory") 1)
  (type $function (func (param i64) (result i64)))
  (table funcref (elem $one $two))
  (func $one (type $function)
    (i64.add (call_indirect (type $function) (local.get 0) (i32.const 1)) (i64.const 1)))
  (func $two (type $function)
    (i64.mul (call_indirect (type $function) (local.get 0) (i32.const 0)) (i64.const 3)))
  (func (export "_start") (drop (call $one (i64.const 0)))))
