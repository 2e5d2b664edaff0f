"""Try mutated files on every reader: `python -m fuzzing --minutes 10`.

Prints each difference from the reference, and keeps its input. Exits 1 if there are any.
"""

import argparse
import multiprocessing
import time
from pathlib import Path

from fuzzing.differential import input_of, look

BATCH = 200


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
    end = time.monotonic() + 60 * given.minutes
    tried = wrong = 0
    with multiprocessing.get_context("spawn").Pool(given.processes, maxtasksperchild=20) as pool:
        for found in pool.imap_unordered(_batch, _batches(given.seed, given.first, end)):
            tried += BATCH
            for difference in found:
                wrong += 1
                print(difference, flush=True)
                given.keep.mkdir(exist_ok=True)
                kept = f"{given.seed}-{difference.number}-{difference.seed.kind}-{difference.seed.name}"
                (given.keep / kept).write_bytes(difference.seed.content)
            if tried % (50 * BATCH) == 0:
                print(f"{tried:,} inputs, {wrong} differences", flush=True)
    print(f"{tried:,} inputs, {wrong} differences")
    return bool(wrong)


def _batches(seed, first, end):
    """Yield work until the time is over."""
    while time.monotonic() < end:
        yield seed, first
        first += BATCH


def _batch(work):
    seed, first = work
    return look(range(first, first + BATCH), seed)


if __name__ == "__main__":
    main()
