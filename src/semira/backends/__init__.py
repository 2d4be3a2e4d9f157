"""The devices: ``reference`` (the meaning), ``cpu`` (Numba) and ``cuda`` (CUDA C++).

None knows another, none knows Matrix or how masks are spelled. `registry` opens them by name;
`interpreter` runs Programs statement by statement for those that interpret.
"""
