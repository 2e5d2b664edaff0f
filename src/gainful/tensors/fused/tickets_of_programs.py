"""Several steps of work in one launch: programs take tickets, and wait for what came before.

Launching a kernel takes longer than most of these steps. A program takes the next ticket and does
the piece of work that it names. Pieces wait only for pieces of lower tickets, which
are running or done, whatever order the GPU starts programs in: so none waits for ever.
"""

import triton
import triton.language as tl


@triton.jit
def next_ticket(counter):
    """Return how many programs took a ticket before; that gives their stores and loads no order."""
    return tl.atomic_add(counter, 1, sem="relaxed", scope="gpu")


@triton.jit
def done(counter, steps=1):
    """Count steps as done, after all that this program has stored; return those before."""
    tl.debug_barrier()
    return tl.atomic_add(counter, steps, sem="release", scope="gpu")


@triton.jit
def is_last(counter, count):
    """Count a step as done; return whether it is the last of so many, to see what all stored."""
    last = done(counter) == count - 1
    if last:
        wait_for(counter, count)
    return last


@triton.jit
def wait_for(counter, count):
    """Wait until so many steps are done, and see what they have stored; return how many are."""
    # Looking again and again must not empty the cache of the others, as acquiring does.
    seen = tl.load(counter, volatile=True)
    while seen < count:
        seen = tl.load(counter, volatile=True)
    seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    # Enough are done by now. But unless the result is used, the compiler leaves out acquiring,
    # and the cache may hold what was there before those steps.
    while seen < count:
        seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    tl.debug_barrier()
    return seen


@triton.jit
def publish(place, number):
    """Store a number other than 0 for programs that wait for it."""
    tl.atomic_xchg(place, number, sem="relaxed", scope="gpu")


@triton.jit
def published(place):
    """Wait for a number to be published; return it. This makes no other store visible."""
    number = tl.load(place, volatile=True)
    while number == 0:
        number = tl.load(place, volatile=True)
    return number
