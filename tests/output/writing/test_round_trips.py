"""What was written reads back the same, bit for bit, in every format and from every kind of input."""

import struct

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import gainful as gf
from read_back import read_back

WRITERS = {"run": gf.write_run, "judgments": gf.write_judgments}
PLAIN = ["trec", "csv", "tsv", "jsonl", "parquet"]
NAMES = [
    "x.run", "x.qrels", "x.trec", "x.txt", "x.csv", "x.tsv", "x.jsonl", "x.parquet",
    *(f"x.{end}.{pack}" for end in ("run", "csv", "tsv", "jsonl") for pack in ("gz", "zst")),
]  # fmt: skip
BLANKS = " \t\n\v\f\r"
ODD = [
    '"', '""', 'a"b', "'", ",", "a,b", ";", "|", "#", "#1", "\\", "\\N", "NULL", "nan", "007", "7",
    "1e5", "-", "é", "e\u0301", "\U0001f600", "\u2028", "\x85", "\xa0", "a\nb", "\r", "a\r\nb", "\t",
    " ", " a ", "a\0b", "\x1f", "\x7f", "\ufeffa", "{", "[1]", "query", "query,doc", "doc", "score",
]  # fmt: skip

ids = st.sampled_from(ODD) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4
)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3).map(float)
documents = st.dictionaries(
    ids, st.dictionaries(ids, numbers, min_size=1, max_size=6), min_size=1, max_size=12
)


def bits(found):
    """Return numbers as bytes, so that −0 is not 0."""
    return {
        query: {doc: struct.pack("d", number) for doc, number in docs.items()}
        for query, docs in found.items()
    }


def trec_part(found):
    """What of it a TREC file holds: ids without blanks."""

    def held(ids):
        return {one: value for one, value in ids.items() if not set(one) & set(BLANKS)}

    return {query: held(docs) for query, docs in held(found).items() if held(docs)}


def refusal(write, *arguments, **options):
    """Return why something is not written, if it is not."""
    try:
        write(*arguments, **options)
    except gf.errors.InputError as problem:
        return str(problem)
    return None


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("form", PLAIN)
@given(found=documents)
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_ids_and_numbers(form, kind, found, tmp_path):
    file = tmp_path / "file"
    file.unlink(missing_ok=True)
    if form == "trec":
        found = trec_part(found)
        assume(found)
    refused = refusal(WRITERS[kind], found, file, format=form)
    if refused is not None:  # the first line of a TREC file may look like something else
        assert form == "trec"
        assert "reads as TREC" in refused or "byte order mark" in refused
        assert not file.exists()
        return
    assert bits(read_back(file, kind)) == bits(found)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("form", PLAIN)
def test_every_odd_id(form, kind, tmp_path):
    held = [text for text in ODD if form != "trec" or not set(text) & set(BLANKS)]
    found = {"!": {text: 0.1 * place for place, text in enumerate(held)}}
    found |= {text: {"d": 5e-324} for text in held if not text.startswith("\ufeff")}
    WRITERS[kind](found, tmp_path / "file", format=form)
    assert bits(read_back(tmp_path / "file", kind)) == bits(found)


def test_the_comparison_can_fail(tmp_path):
    gf.write_run({"q": {"a": 0.0}}, tmp_path / "x.run")
    found = read_back(tmp_path / "x.run", "run")
    assert bits(found) != bits({"q": {"a": -0.0}})
    assert bits(found) != bits({"q": {"b": 0.0}})


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("name", NAMES)
def test_every_name(name, kind, tmp_path):
    found = {"q2": {"b": 0.1, "a": 2.0}, "q10": {"é,\"'": -1e-300}}
    WRITERS[kind](found, tmp_path / name)
    assert bits(read_back(tmp_path / name, kind)) == bits(found)
    magic = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd", ".parquet": b"PAR1"}
    expected = magic.get((tmp_path / name).suffix, b"q")
    assert (tmp_path / name).read_bytes().startswith((expected, b'{"q'))


def test_every_kind_of_input_gives_the_same_file(tmp_path):
    run = {"q1": {"a": 0.5, "b": 0.25}, "q2": {"007": 3.0}}
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    columns = dict(zip(("query", "doc", "score"), map(list, zip(*rows, strict=True)), strict=True))
    gf.write_run(run, tmp_path / "mapping.run")
    expected = (tmp_path / "mapping.run").read_bytes()
    for end in ("csv", "jsonl.gz", "parquet"):
        gf.write_run(run, tmp_path / f"file.{end}")
    for number, given_ in enumerate(
        [
            *(tmp_path / f"file.{end}" for end in ("csv", "jsonl.gz", "parquet")),
            str(tmp_path / "mapping.run"),
            pd.DataFrame(columns),
            pl.DataFrame(columns),
            pl.LazyFrame(columns),
            pa.table(columns),
        ]
    ):
        gf.write_run(given_, tmp_path / f"{number}.run")
        assert (tmp_path / f"{number}.run").read_bytes() == expected
    frame = pd.DataFrame(columns).rename(columns={"query": "who", "score": "points"})
    named = {"query": "who", "run.score": "points"}
    gf.write_run(frame, tmp_path / "named.run", columns=named, engine=gf.Engine(threads=1))
    assert (tmp_path / "named.run").read_bytes() == expected


def test_nothing_that_was_passed_is_changed(tmp_path):
    run = {"q2": {"a": 1, "b": 2}, "q1": {"a": 1}}
    gf.write_run(run, tmp_path / "x.run")
    assert [(query, [*docs.items()]) for query, docs in run.items()] == [
        ("q2", [("a", 1), ("b", 2)]),
        ("q1", [("a", 1)]),
    ]


def test_a_file_can_be_written_onto_itself(tmp_path):
    file = tmp_path / "x.run"
    file.write_text("q Q0 a 9 1.50 t\nq Q0 b 3 2.5 t\n")
    gf.write_run(file, file)
    assert file.read_text() == "q Q0 b 1 2.5 gainful\nq Q0 a 2 1.5 gainful\n"


def test_the_value_of_a_run_stays(tmp_path):
    judgments, run = {"q": {"a": 2, "b": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.7}}
    gf.write_judgments(judgments, tmp_path / "x.tsv.zst")
    gf.write_run(run, tmp_path / "x.jsonl")
    of_files = gf.evaluate(tmp_path / "x.tsv.zst", tmp_path / "x.jsonl", "nDCG")
    assert of_files["nDCG"] == gf.evaluate(judgments, run, "nDCG")["nDCG"]
