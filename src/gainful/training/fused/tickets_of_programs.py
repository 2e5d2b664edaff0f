"""Several steps of work in one launch: programs take tickets and wait for earlier ones.

Launching a kernel takes longer than most of these steps. A program takes the next ticket and does
the work assigned to it. Work waits only for lower tickets, which are running or finished in
whatever order the GPU starts programs, so there is no deadlock.
"""

import triton
import triton.language as tl


@triton.jit
def next_ticket(counter):
    """Return how many tickets were taken before; this does not order their stores and loads."""
    return tl.atomic_add(counter, 1, sem="relaxed", scope="gpu")


@triton.jit
def done(counter, steps=1):
    """Count steps as done once this program's stores are visible; return the previous count."""
    tl.debug_barrier()
    return tl.atomic_add(counter, steps, sem="release", scope="gpu")


@triton.jit
def is_last(counter, count):
    """Count a step as done; return whether it was the last, after which all stores are visible."""
    last = done(counter) == count - 1
    if last:
        wait_for(counter, count)
    return last


@triton.jit
def wait_for(counter, count):
    """Wait until so many steps are done and their stores are visible; return the count."""
    # Polling must not flush the cache of other programs, as an acquiring load does.
    seen = tl.load(counter, volatile=True)
    while seen < count:
        seen = tl.load(counter, volatile=True)
    seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    # Enough steps are done by now. But unless the result is used, the compiler drops the acquiring
    # load, and the cache may hold values from before those steps.
    while seen < count:
        seen = tl.atomic_add(counter, 0, sem="acquire", scope="gpu")
    tl.debug_barrier()
    return seen


@triton.jit
def publish(place, number):
    """Store a non-zero number for programs that wait for it."""
    tl.atomic_xchg(place, number, sem="relaxed", scope="gpu")


@triton.jit
def published(place):
    """Wait for a published number and return it; this makes no other store visible."""
    number = tl.load(place, volatile=True)
    while number == 0:
        number = tl.load(place, volatile=True)
    return number
