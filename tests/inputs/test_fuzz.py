"""Files that went wrong on the way: a result that is right, or an error of ours, nothing else."""

import contextlib
import csv
import io
import math
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf
from input_forms import FORMS

JUDGMENTS = {"q1": {"a": 2.0, "b": 1.0, "c": -1.0}, "q2": {"a": 1.0, "d": 0.5}, "q3": {"é": 1.0}}
ROWS = [
    ("q1", "a", 1.0), ("q1", "b", 0.5), ("q2", "a", 0.5), ("q1", "x", 0.5), ("q3", "é", 1e-3),
    ("q2", "d", -1.5), ("q3", 'say "y"', 12.25), ("q9", "a,b", 3.0),
]  # fmt: skip
FILES = [form for form in FORMS if "." not in form.name and form.name not in ("Parquet folder", "Parquet pattern")]  # fmt: skip
FILES = [form for form in FILES if form.name[0].isupper() and not form.name.startswith(("Arrow", "Duck"))]  # fmt: skip
PACKED = [form for form in FORMS if form.name in ("TREC.gz", "TREC.zst", "CSV.gz", "CSV.zst")]
BITS = [b" ", b"\t", b"\n", b"\r", b"\r\n", b",", b";", b'"', b"'", b"\\", b"\0", b"\xff", b"#",
        b"\xef\xbb\xbf", b"{", b"}", b"[", b":", b"-", b"+", b"e", b"_", b".", b"0", b"nan", b"inf",
        b"NULL", b"1e999", b"\xc3", b"\xa0", b"a", b"  ", b'""', b"q1"]  # fmt: skip


def content_of(form):
    with tempfile.TemporaryDirectory() as folder:
        return Path(form.make(ROWS, "run", Path(folder))).read_bytes()


VALID = {form.name: content_of(form) for form in FILES + PACKED}
MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "insert", "delete", "duplicate", "cut", "splice"]),
        st.floats(0, 1),
        st.floats(0, 1),
        st.sampled_from(BITS),
    ),
    min_size=1,
    max_size=3,
)


def mutated(content, mutations):
    for how, first, second, bit in mutations:
        start = int(first * len(content))
        end = min(len(content), start + int(second * 12))
        if how == "flip" and content:
            start = min(start, len(content) - 1)
            flipped = content[start] ^ (1 << int(second * 7))
            content = content[:start] + bytes([flipped]) + content[start + 1 :]
        elif how == "insert":
            content = content[:start] + bit + content[start:]
        elif how == "delete":
            content = content[:start] + content[end:]
        elif how == "duplicate":
            content = content[:end] + content[start:end] + content[end:]
        elif how == "cut":
            content = content[:start]
        elif how == "splice":
            content = content[:start] + content[int(second * len(content)) :]
    return content


def evaluated(content, name, measure):
    """The values of the queries; None where the file is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.GainfulWarning)
            try:
                scores = gf.evaluate(JUDGMENTS, path, measure)
            except gf.GainfulError:
                return None
    return scores.per_query.to_dict(), scores.coverage


def number(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def plain_trec(content):
    """The oracle: lines, split on white space."""
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if fields := line.split():
            query, _, doc, _, score, _ = [field.decode() for field in fields]
            yield query, doc, number(score)


def plain_csv(content):
    """The oracle: Python's own reader of CSV."""
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    rows = [row for row in reader if row]
    names = [name.strip().casefold() for name in rows[0]]
    places = [names.index(name) for name in ("query", "doc", "score")]
    for row in rows[1:]:
        query, doc, score = (row[place] for place in places)
        if len(row) != len(rows[0]) or not (query and doc):
            raise ValueError(row)
        yield query, doc, number(score)


class OutOfSightError(Exception):
    """A document stands twice, the second time below the cutoff, where nothing is looked for."""


def run_of(rows, depth):
    """Return rows as a run; documents stand twice only in queries that nothing is looked at."""
    found = {}
    for query, doc, score in rows:
        found.setdefault(query, []).append((score, doc))
    for documents in (documents for query, documents in found.items() if query in JUDGMENTS):
        scores = {}
        for score, doc in sorted(documents, reverse=True):
            if doc in scores and depth and sum(other > score for other, _ in documents) >= depth:
                raise OutOfSightError(doc)
            if doc in scores:
                raise ValueError(doc)
            scores[doc] = score
    return {query: {doc: score for score, doc in pairs} for query, pairs in found.items()}


def read_plainly(oracle, content, measure, depth):
    run = run_of(oracle(content), depth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.GainfulWarning)
        scores = gf.evaluate(JUDGMENTS, run, measure)
    return scores.per_query.to_dict(), scores.coverage


def check_against(oracle, content, name):
    for measure, depth in (("nDCG@2", 2), ("CG", None)):
        found = evaluated(content, name, measure)
        if found is not None:  # then it can be read plainly too, to the same values
            with contextlib.suppress(OutOfSightError):
                assert found == read_plainly(oracle, content, measure, depth)


@settings(max_examples=50)
@given(mutations=MUTATIONS)
def test_trec_is_right_or_refused(mutations):
    check_against(plain_trec, mutated(VALID["TREC"], mutations), "run.txt")


@settings(max_examples=50)
@given(mutations=MUTATIONS)
def test_csv_is_right_or_refused(mutations):
    check_against(plain_csv, mutated(VALID["CSV"], mutations), "run.csv")


@pytest.mark.parametrize(
    "line",
    [
        b'q1, "c",3', b'q1,"c" ,3', b'q1,c"",3', b'q1,"c"x,3', b"q1,c,3,", b"q1, c,3", b"q1,c ,3",
        b"q1,'c',3", b'q1,"c\r\n",3', b'q1,"""c""",3', b"q1,c,3\r\r\n", b"q1,c,3\n\r", b"\r\n \r\n",
        b'q1,c,"3"', b"q1,c, 3 ", b"q1,c,1_0", b"q1,c,0x3", b"q1,c,\xd9\xa3", b"q1,c,+3", b"q1,c,.5e1",
        b"q1,NULL,3", b"q1,\\N,3", b'q1,"c\\",3', b"# q1,c,3", b"q1,\xef\xbb\xbfc,3", b"q1,\0c,3",
    ],
)  # fmt: skip
def test_lines_that_readers_of_csv_differ_on(line):
    check_against(plain_csv, VALID["CSV"] + line + b"\r\n", "run.csv")


@pytest.mark.parametrize("form", FILES + PACKED, ids=str)
@settings(max_examples=10)
@given(mutations=MUTATIONS)
def test_nothing_but_results_and_errors_of_ours(form, mutations):
    evaluated(mutated(VALID[form.name], mutations), "run", "nDCG@2")


@settings(max_examples=25)
@given(content=st.binary(max_size=300))
def test_any_bytes(content):
    evaluated(content, "run", "nDCG")
