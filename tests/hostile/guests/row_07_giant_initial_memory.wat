;; Comes with a memory of 4 GiB.
(module
  (memory (export "memory") 65536)
  (func (export "_start")))
