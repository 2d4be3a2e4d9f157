"""A GPU on the host: the cuda backend as it is, its kernels compiled for the processor.

``pytest --device cuda --emulate`` installs it. Results are real; times are not, and there is no
other order of memory than the processor's.
"""

#: Whether device ``cuda`` of this process is the emulation.
is_installed = False
