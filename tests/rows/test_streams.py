"""What can be read once only: standard input, pipes, streams of Arrow batches."""

import gzip
import json
import os
import subprocess
import sys
import threading

import pyarrow as pa
import pytest

import gainful as gf
from input_forms import FORMS, Bare, zstd

QRELS = "q1 0 a 3\nq1 0 b 2\nq2 0 d 1\n"
RUN = "q1 Q0 a 1 0.9 t\nq1 Q0 b 2 0.7 t\nq2 Q0 d 1 2 t\n"
ROWS = [("q1", "a", 0.9), ("q1", "b", 0.7), ("q2", "d", 2.0)]
TEXTS = [form for form in FORMS if form.name.split(".")[0] in (
    "TREC", "ragged TREC", "CSV", "JSON lines", "JSON dicts", "JSON records", "Parquet")]  # fmt: skip


def call(*arguments, stdin=None, bash=None):
    command = ["bash", "-c", bash] if bash else [sys.executable, "-m", "gainful", *map(str, arguments)]  # fmt: skip
    return subprocess.run(command, capture_output=True, input=stdin, timeout=60, check=False)


@pytest.fixture
def qrels(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text(QRELS)
    return path


@pytest.mark.parametrize("form", TEXTS, ids=str)
def test_standard_input_in_every_format(qrels, form, tmp_path, cli):
    path = tmp_path / "made"
    path.mkdir()
    made = form.make(ROWS, "run", path)
    with open(made, "rb") as file:  # noqa: PTH123
        content = file.read()
    expected = {"run": "-", **gf.evaluate(qrels, made).means}
    # In this process, and for one text and one table by a process that has a pipe.
    for way in (cli, call) if form.name in ("TREC", "Parquet") else (cli,):
        done = way("evaluate", qrels, "-", "-f", "jsonl", stdin=content)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == expected


def test_standard_input_that_cannot_be_read(qrels, cli):
    for content, said in (
        (b"", "standard input: expected a run of scores, found an empty file"),
        (b"q1 Q0 a\n", "standard input:1: expected 6 fields"),
        (gzip.compress(RUN.encode())[:-9], "standard input: expected a whole compressed file"),
        (zstd.compress(RUN.encode())[:-9], "standard input: expected a whole compressed file"),
    ):
        done = cli("evaluate", qrels, "-", stdin=content)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"gainful: error: {said}")
        assert done.stderr.count("\n") == 1


def test_standard_input_that_is_looked_at_twice(qrels, tmp_path):
    tied = "".join(f"q1 Q0 {doc} 1 0.5 t\n" for doc in "abcdef").encode()
    (tmp_path / "tied.run").write_bytes(tied)
    ways = ("evaluate", qrels, "-m", "nDCG@1", "--tie-warning", "0", "-f", "csv")
    told, expected = call(*ways, "-", stdin=tied), call(*ways, tmp_path / "tied.run")
    assert (told.returncode, expected.returncode) == (0, 0)
    assert told.stderr.replace(b"\n-  ", b"\ntied  ") == expected.stderr
    assert b"nDCG@1 is" in told.stderr
    assert told.stdout.replace(b"-,", b"tied,") == expected.stdout


def test_standard_input_twice_and_closed(qrels):
    done = call("evaluate", "-", "-", stdin=RUN.encode())
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Standard input can be read only once" in done.stderr
    done = call(bash=f"{sys.executable} -m gainful evaluate {qrels} - <&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"gainful: error: standard input: expected something to read")


@pytest.mark.parametrize("count", [3, 300, 20_000])
def test_a_pipe_is_read_whole_and_once(qrels, count, tmp_path):
    run = "".join(f"q1 Q0 d{number} 1 {1 / (number + 1)} t\n" for number in range(count - 1))
    run += "q1 Q0 a 1 0.0 t\n"
    (tmp_path / "run").write_text(run)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "gainful", "evaluate", str(qrels), str(pipe), "-f", "jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        writer = threading.Thread(target=write_quietly, args=(pipe, run), daemon=True)
        writer.start()
        try:
            out, problem = reader.communicate(timeout=8)
        except subprocess.TimeoutExpired:
            reader.kill()
            pytest.fail("the pipe was opened or read more than once")
    assert reader.returncode == 0, problem
    expected = gf.evaluate(qrels, tmp_path / "run").means
    assert json.loads(out) == {"run": "pipe", **expected}


def write_quietly(pipe, text):
    try:
        pipe.write_text(text)
    except BrokenPipeError:
        return


@pytest.mark.parametrize("count", [3, 300, 20_000])
def test_a_process_substitution(qrels, count, tmp_path):
    run = tmp_path / "run.gz"
    lines = [f"q1 Q0 d{number} 1 {1 / (number + 1)} t\n" for number in range(count)]
    run.write_bytes(gzip.compress("".join([*lines, "q1 Q0 a 1 0.0 t\n"]).encode()))
    script = (
        f"timeout 20 {sys.executable} -m gainful evaluate {qrels} <(gzip -dc {run}) -m CG -f json"
    )
    done = call(bash=script)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["means"] == gf.evaluate(qrels, run, "CG").means


# Ties at the edge of the cutoff make the matcher look at the documents there once more.
TIED = pa.table(
    {
        "query": ["q1", "q1", "q1", "q2", "q2"],
        "doc": ["x", "a", "b", "c", "y"],
        "score": [1.0, 1.0, 1.0, 2.0, 1.0],
    }
)
JUDGED = {"q1": {"x": 1, "b": 1}, "q2": {"c": 1}}
ONCE = [
    lambda: TIED.to_reader(),
    lambda: Bare(TIED.to_reader()),
    lambda: pa.RecordBatchReader.from_batches(TIED.schema, iter(TIED.to_batches(max_chunksize=1))),
]


@pytest.mark.parametrize("measure", ["nDCG@1", "nDCG@2", "nDCG@3", "nDCG"])
@pytest.mark.parametrize("unjudged", ["zero", "condense"])
def test_streams_of_arrow_batches(measure, unjudged):
    policy = gf.Policy(unjudged=unjudged)
    expected = gf.evaluate(JUDGED, TIED, measure, policy=policy)
    for make in ONCE:
        found = gf.evaluate(JUDGED, make(), measure, policy=policy)
        assert found.values.tobytes() == expected.values.tobytes()
        assert found.coverage == expected.coverage


@pytest.mark.parametrize("make", ONCE)
def test_a_stream_as_judgments_of_several_runs(make):
    judgments = TIED.rename_columns(["query", "doc", "grade"])
    runs = {"table": TIED, "dict": {"q1": {"a": 1}, "q2": {"c": 1}}}
    expected = gf.evaluate_runs(judgments, runs, "nDCG")
    found = gf.evaluate_runs(judgments.to_reader(), runs, "nDCG")
    for name in runs:
        assert found[name].means == expected[name].means


def test_what_is_wrong_in_a_stream_has_its_place():
    table = pa.table({"query": ["q1", "q1"], "doc": ["a", "b"], "score": [1.0, float("nan")]})
    for measure in ("nDCG", "nDCG@1"):
        with pytest.raises(gf.errors.InputError, match="row 2, query 'q1', document 'b'"):
            gf.evaluate(JUDGED, table.to_reader(), measure)


def test_a_stream_that_was_read_already():
    reader = TIED.to_reader()
    reader.read_all()
    with pytest.raises(gf.errors.InputError):
        gf.evaluate(JUDGED, reader)


def test_a_stream_that_breaks():
    def batches():
        yield TIED.to_batches()[0]
        raise OSError("the network is gone")

    for measure in ("nDCG", "nDCG@1"):
        with pytest.raises(gf.errors.GainfulError):
            gf.evaluate(JUDGED, pa.RecordBatchReader.from_batches(TIED.schema, batches()), measure)
