"""`--chunk-map`: packed, from standard input, and with every id that a run may hold."""

import gzip
import subprocess
import sys

import pytest

import gainful as gf

# Characters that Python takes for white space or for the end of a line, and TREC files do not.
ODD = ["d\u00a01", "d\u20281", "d\u20031", "d\x851", "d\x1c1"]


@pytest.fixture
def pair(files):
    qrels = "".join(f"q1 0 {doc} {place}\n" for place, doc in enumerate(ODD))
    run = "".join(f"q1 Q0 c{doc} 1 0.{place} t\n" for place, doc in enumerate(ODD, 1))
    return files("q.qrels", qrels), files("r.run", run)


MAP = "".join(f"c{doc}\t{doc}\n" for doc in ODD)


def test_ids_are_those_of_runs(cli, pair, files):
    done = cli("evaluate", *pair, "--fold", "max", "--chunk-map", files("map", MAP), "-f", "csv")
    assert done.returncode == 0, done.stderr
    chunks = {f"c{doc}": doc for doc in ODD}
    scores = gf.evaluate(*pair, policy=gf.Policy(fold="max"), chunks=chunks)
    assert float(done.stdout.split(",")[-1]) == scores["nDCG@10"] > 0


def test_one_option_is_enough(cli, files):
    """By hand: doc7 has 0.8 and doc8 0.9, so that the relevant doc7 is second: 1 / log2(3)."""
    pair = (
        files("q", "q1 0 doc7 1\n"),
        files("r", "q1 Q0 doc8#1 1 0.9 t\nq1 Q0 doc7#4 2 0.8 t\nq1 Q0 doc7#1 3 0.95 t\n"),
    )
    whole = files("map", "doc8#1 doc8\ndoc7#4 doc7\ndoc7#1 doc7\n")
    for option in (["--chunks", "#"], ["--chunk-map", whole]):
        best = cli("evaluate", *pair, *option)
        assert "1.0000" in best.stdout
        assert "fold=max" in best.stdout
        first = cli("evaluate", *pair, *option, "--fold", "first")
        assert "0.6309" in first.stdout
        refused = cli("evaluate", *pair, *option, "--fold", "none")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "To fold them, leave fold=none out." in refused.stderr
        spoken = cli("evaluate", *pair, *option, "--dialect", "trec_eval")
        assert "1.0000" in spoken.stdout
    alone = cli("evaluate", *pair, "--fold", "max")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "E.g. '#' for chunks doc7#1 and doc7#2" in alone.stderr


def test_packed_or_from_standard_input(cli, pair, files):
    call = ("evaluate", *pair, "--fold", "max", "-f", "csv", "--chunk-map")
    expected = cli(*call, files("map", MAP)).stdout
    assert expected.startswith("run,nDCG@10\n")
    assert cli(*call, files("map.gz", gzip.compress(MAP.encode()))).stdout == expected
    assert cli(*call, "-", stdin=MAP).stdout == expected
    program = [sys.executable, "-m", "gainful", *map(str, call), "-"]
    packed = subprocess.run(program, capture_output=True, input=gzip.compress(MAP.encode()))
    assert packed.stdout.decode() == expected


def test_standard_input_is_read_once(cli, pair):
    qrels, run = pair
    fold = ("--fold", "max", "--chunk-map", "-")
    for arguments in (
        ("evaluate", qrels, "-", *fold),
        ("evaluate", "-", run, *fold),
        ("compare", qrels, run, "-", *fold),
        ("compare", qrels, run, run.with_name("other"), "--slices", "-", *fold),
        ("report", qrels, run, "--queries", "-", "-o", "x.html", *fold),
        ("explain", qrels, run, "--against", "-", "-q", "q1", *fold),
    ):
        done = cli(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Standard input can be read only once: pass - for one file only." in done.stderr


def test_a_bad_map_is_one_paragraph(cli, pair, files):
    for content, told in (
        (b"", "expected a chunk and its document on each line, found an empty file"),
        (b"c d\n\nc\n", ":3: expected 2 fields (chunk document), found 1: 'c'"),
        (b"c d\nc e\n", ":2: expected each chunk once, found 'c' again, with another document"),
        (b"c \xff\n", ":1: expected UTF-8 text"),
    ):
        path = files("bad.map", content)
        done = cli("evaluate", *pair, "--fold", "max", "--chunk-map", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{path}" in done.stderr
        assert told in done.stderr
    done = cli("evaluate", *pair, "--fold", "max", "--chunk-map", "none.map")
    assert "none.map: expected a file, found none of that name" in done.stderr
