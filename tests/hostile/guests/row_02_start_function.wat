;; Computes for ever while it is instantiated, before anything is called.
(module
  (func $spin (loop $again (br $again)))
  (start $spin)
  (memory (export "memory") 1)
  (func (export "_start")))
