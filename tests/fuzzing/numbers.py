"""Columns of thousands of numbers, read by every reader: each is the nearest float64, or refused."""

import random

from fuzzing.seeds import Seed
from input_forms import as_dicts

CELLS = 500
FORMATS = ("run.txt", "run.csv", "run.jsonl")


def decimal(rng):
    """Write a number as people and tools do."""
    how = rng.randrange(8)
    if how == 0:
        return str(rng.randint(-(10 ** rng.randint(1, 15)), 10 ** rng.randint(1, 15)))
    if how == 1:
        return f"{rng.uniform(-1e6, 1e6):.{rng.randint(0, 12)}f}"
    if how == 2:
        return repr(rng.uniform(-1, 1) * 10.0 ** rng.randint(-320, 307))
    if how == 3:
        return f"{rng.random():.{rng.randint(15, 40)}f}"
    if how == 4:
        return f"{rng.uniform(-1, 1):.{rng.randint(0, 25)}e}"
    if how == 5:
        return f"{rng.random() * 10:.17g}"
    if how == 6:  # halfway between two neighbours, where reading rounds
        return str(2**53 + 2 * rng.randint(0, 2**40) + 1) + rng.choice((".0", ".5", ".00000000001"))
    return rng.choice(("+", "-", "")) + rng.choice((".5", "5.", "0", "00.10", "1e5", "1E-5", "007"))


def column(number, start):
    """Return the texts of a column of numbers."""
    rng = random.Random(f"{start}/numbers/{number}")  # noqa: S311
    return [decimal(rng) for _ in range(CELLS)]


def file_of(texts, name):
    """Write texts as the scores of a run; JSON has fewer ways to write a number."""
    if name.endswith(".txt"):
        return "".join(f"q Q0 d{place} 1 {text} t\n" for place, text in enumerate(texts)).encode()
    if name.endswith(".csv"):
        rows = "".join(f"q,d{place},{text}\n" for place, text in enumerate(texts))
        return f"query,doc,score\n{rows}".encode()
    return "".join(
        f'{{"query": "q", "doc": "d{place}", "score": {float(text)!r}}}\n'
        for place, text in enumerate(texts)
    ).encode()


def seeds(number, start):
    """Return a column of numbers as a file of every format, with what it holds."""
    texts = column(number, start)
    values = [float(text) for text in texts]
    rows = [("q", f"d{place}", value) for place, value in enumerate(values)]
    for name in FORMATS:
        yield Seed(name, file_of(texts, name), "run"), as_dicts(rows)
