"""Try mutated files on every reader: `python -m fuzzing --minutes 10`.

Prints each difference from the reference, and keeps its input. Exits 1 if there are any.
"""

import argparse
import itertools
import multiprocessing
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path

from fuzzing.differential import BATCH, input_of, look, look_at_batch


def main():
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1, help="how long to try (default: 1)")
    parser.add_argument(
        "--seed", default="1", help="which inputs: the same seed gives the same ones"
    )
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--only", type=int, help="look at the input of this number alone")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--keep", type=Path, default=Path("fuzzing-found"), help="where inputs go")
    given = parser.parse_args()
    if given.only is not None:
        print(input_of(given.only, given.seed))
        found = look([given.only], given.seed)
        print(*found, sep="\n")
        raise SystemExit(bool(found))
    raise SystemExit(run(given))


def run(given):
    """Try batches until the time is over; a process has one of them to do and one to go on with."""
    end = time.monotonic() + 60 * given.minutes
    firsts = itertools.count(given.first, BATCH)
    tried = wrong = 0
    with ProcessPoolExecutor(
        given.processes, multiprocessing.get_context("spawn"), max_tasks_per_child=50
    ) as pool:

        def begun():
            return pool.submit(look_at_batch, given.seed, next(firsts))

        waiting = {begun() for _ in range(2 * given.processes)}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for batch in done:
                tried += BATCH
                wrong += len(batch.result())
                for difference in batch.result():
                    keep(difference, given)
                if time.monotonic() < end:
                    waiting.add(begun())
                if tried % (50 * BATCH) == 0:
                    print(f"{tried:,} inputs, {wrong} differences", flush=True)
    print(f"{tried:,} inputs, {wrong} differences")
    return bool(wrong)


def keep(difference, given):
    """Print a difference, and write its input to a file."""
    print(difference, flush=True)
    given.keep.mkdir(exist_ok=True)
    seed = difference.seed
    path = given.keep / f"{given.seed}-{difference.number}-{seed.kind}-{seed.name}"
    path.write_bytes(seed.content)


if __name__ == "__main__":
    main()
