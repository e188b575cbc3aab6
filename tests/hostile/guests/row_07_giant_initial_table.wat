;; Comes with a table of ten million elements.
(module
  (memory (export "memory") 1)
  (table 10_000_000 funcref)
  (func (export "_start")))
