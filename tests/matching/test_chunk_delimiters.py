"""Chunk ids are cut at the last or at the first delimiter, alike in every matcher, and advice leads to what works."""

import json
import re
import warnings

import pandas as pd
import pytest

import gainful as gf
from gainful.matching.chunks_to_documents import Chunks

PARTS = {
    "::": ["doc7::256::3", "doc7::1::1", "doc8::9", "doc9"],
    "#": ["doc7#2#3", "doc8#1", "doc9"],
    ".": ["doc7.md.1", "doc8.2", "doc9"],
    "\\E|": ["doc7\\E|1\\E|2", "doc8\\E|1", "doc9"],
    "'": ["doc7'1'2", "doc8'1", "doc9"],
}
JUDGMENTS = {"q1": {"doc7": 2, "doc8": 1, "doc9": 0}, "q2": {"doc8": 1, "doc9": 1}}


def run_of(mark):
    chunks = PARTS[mark]
    return {
        "q1": {chunk: 1.0 / (2 + at) for at, chunk in enumerate(chunks)},
        "q2": {chunk: 1.0 + at for at, chunk in enumerate(chunks)},
    }


def frame(run):
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    return pd.DataFrame(rows, columns=["query", "doc", "score"])


def file(run, folder):
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in frame(run).to_dict("records")))
    return path


LARGE = pd.DataFrame({"query": "z", "doc": [f"w{n}" for n in range(20_001)], "score": 1.0})
FORMS = {
    "dict": lambda run, _: run,
    "frame": lambda run, _: frame(run),
    "file": file,
    "large frame": lambda run, _: pd.concat([frame(run), LARGE]),
}


@pytest.mark.parametrize("mark", PARTS)
@pytest.mark.parametrize("form", FORMS)
def test_the_first_delimiter_cuts_alike_everywhere(form, mark, tmp_path):
    run = run_of(mark)
    wanted = gf.evaluate(JUDGMENTS, run, "nDCG", chunks=lambda chunk: chunk.partition(mark)[0])
    found = gf.evaluate(JUDGMENTS, FORMS[form](run, tmp_path), "nDCG", chunks=f"first:{mark}")
    assert found.per_query.to_dict() == wanted.per_query.to_dict()
    last = gf.evaluate(
        JUDGMENTS, run, "nDCG", chunks=lambda c: c.rpartition(mark)[0] if mark in c else c
    )
    found = gf.evaluate(JUDGMENTS, FORMS[form](run, tmp_path), "nDCG", chunks=mark)
    assert found.per_query.to_dict() == last.per_query.to_dict()


@pytest.mark.parametrize("delimiter", ["#", "::", "first:#", "first:::", ".", "first:."])
@pytest.mark.parametrize("chunk", ["doc7#2", "doc", "a::b::c", "a.b#c", "#", "a:::b"])
def test_a_function_says_what_a_delimiter_does(delimiter, chunk):
    mark = delimiter.removeprefix("first:")
    parts = chunk.split(mark)
    kept = parts[:1] if delimiter.startswith("first:") else parts[:-1]
    assert Chunks(delimiter).document(chunk) == (mark.join(kept) if len(parts) > 1 else chunk)


def advice(run, **options):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gf.evaluate(JUDGMENTS, run, "nDCG", **options)
    told = " ".join(str(each.message) for each in seen)
    found = re.search(r"chunks='(.+?)' ", told)
    return None if found is None else found[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("given", [None, "::", "#"])
def test_advice_on_chunks_leads_to_what_works(given, form, tmp_path):
    run = {"q1": {"doc7::256::3": 2.0, "doc8::256::1": 1.0}}
    bring = FORMS[form]
    options = {} if given is None else {"chunks": given}
    said = advice(bring(run, tmp_path), **options)
    assert said == "first:::" != given
    assert advice(bring(run, tmp_path), chunks=said) is None


def test_nothing_after_first_is_no_delimiter():
    with pytest.raises(gf.errors.InputError, match="chunks: expected a delimiter"):
        gf.evaluate(JUDGMENTS, run_of("#"), chunks="first:")


def test_the_command_line(cli, files):
    judgments = files("q.qrels", "q1 0 doc7 1\nq1 0 doc8 0\n")
    run = files("r.run", "q1 Q0 doc8::1::2 1 2 x\nq1 Q0 doc7::256::3 2 1 x\n")
    done = cli("evaluate", judgments, run, "-m", "RR", "--chunks", "first:::", "-f", "csv")
    assert ",0.5" in done.stdout


MIXED = {"q1": {"doc7": 1, "doc8#2": 1}, "q2": {"doc9#1": 1}, "q3": {"doc1": 1, "doc2#9": 1}}
OF_CHUNKS = {"q1": {"doc7#1": 3, "doc8#2": 2}, "q2": {"doc9#1": 4}, "q3": {"doc1#4": 1}}


@pytest.mark.parametrize(
    "chunks",
    [
        "#",
        "first:#",
        lambda chunk: chunk.split("#")[0],
        {doc: doc.split("#")[0] for found in OF_CHUNKS.values() for doc in found},
    ],
    ids=["last", "first", "function", "dict"],
)
@pytest.mark.parametrize("form", ["dict", "file"])
def test_ids_of_chunks_among_judged_documents_are_warned_about(files, chunks, form):
    run = OF_CHUNKS
    if form == "file":
        lines = (
            f"{q} Q0 {doc} 0 {score} t\n" for q, own in run.items() for doc, score in own.items()
        )
        run = files("r.run", "".join(lines))
    with pytest.warns(gf.errors.GainfulWarning) as seen:
        scores = gf.evaluate(MIXED, run, "R@10", chunks=chunks)
    (told,) = (str(one.message) for one in seen)
    assert "'doc8#2' of query 'q1' (and 1 more) is the id of a chunk" in told
    assert "Judge 'doc8' instead, or leave chunks out." in told
    assert scores.per_query["R@10"] == [0.5, 0.0, 0.5]


def test_only_ids_of_chunks_that_were_returned_are_warned_about():
    """Ids of documents may contain the delimiter."""
    judgments = {"q1": {"a-b": 1, "c-d": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = gf.evaluate(judgments, {"q1": {"a-b-1": 2, "c-d-7": 1}}, "R@10", chunks="-")
    assert scores["R@10"] == 1
