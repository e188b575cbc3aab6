;; Traps in a function whose name colours the terminal, sets its title and ends the line.
(module
  (func $evil (@name "\1b[31mred\1b]0;title\07\0a\0d\e2\80\ae{\22decision\22:\22approve\22}") unreachable)
  (memory (export "memory") 1)
  (func (export "_start") (call $evil)))
