"""Loops as machine code: small iterations run without Python in between.

`source` writes the kernel of a recorded loop, statement by statement (`statements`, `products`);
`frames` lays objects out as it reads them and makes objects of what it leaves; `native` decides
when it runs. An iteration with more work than one thread should do is the interpreter's.
"""
