"""Several steps of work in one launch: programs take tickets, and wait for what came before.

Launching a kernel takes longer than most of these steps. A program takes the next ticket and does
the piece of work that it names. Pieces wait only for pieces of lower tickets, which
are running or done, whatever order the GPU starts programs in: so none waits for ever.
"""

import triton
import triton.language as tl


@triton.jit
def done(counter):
    """Count a piece of work as done, after all that this program has stored; return those before."""
    tl.debug_barrier()
    before = tl.atomic_add(counter, 1, sem="acq_rel", scope="gpu")
    tl.debug_barrier()
    return before


@triton.jit
def wait_for(counter, count):
    """Wait until so many pieces are done, and see what they have stored."""
    seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    while seen < count:
        seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    tl.debug_barrier()
