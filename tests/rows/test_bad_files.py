"""Files that cannot be read: one paragraph with the place, exit 2, and nothing left behind."""

import gzip
import io
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from input_forms import zstd

QRELS = "q1 0 a 3\nq1 0 b 2\nq2 0 d 1\n"
RUN = "q1 Q0 a 1 0.9 t\nq1 Q0 b 2 0.7 t\nq2 Q0 d 1 2 t\n"
HEAD = "query,doc,score\nq1,a,0.5\n"
LINES = '{"query": "q1", "doc": "a", "score": 0.5}\n'


def parquet(**columns):
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    return content.getvalue()


LONG = "".join(f"q1 Q0 d{number} 1 {number / 7} t\n" for number in range(5000)).encode()
WHOLE = parquet(query=["q1"] * 999, doc=list(map(str, range(999))), score=[1.0] * 999)
GZIPPED, ZSTANDARD = gzip.compress(LONG), zstd.compress(LONG)


def damaged(content):
    middle = len(content) // 2
    return content[:middle] + bytes(byte ^ 0xFF for byte in content[middle : middle + 40]) + content[middle + 40 :]  # fmt: skip


# name of the file, its content, the line, what is said
RUNS = [
    ("few.run", RUN + "q1 Q0 c 1 0.5\n", 4, "expected 6 fields (query Q0 doc rank score tag), found 5"),
    ("many.run", RUN + "q1 Q0 c 1 0.5 t u\n", 4, "found 7"),
    ("word.run", RUN + "q1 Q0 c 1 good t\n", 4, "a finite number as the score, found 'good'"),
    ("nan.run", RUN + "q1 Q0 c 1 nan t\n", 4, "a finite number as the score, found 'nan'"),
    ("digits apart, short.run", "q1 Q0 a 1 1_000 t\n", 1, "as the score, found '1_000'"),
    ("digits apart.run", RUN + "q1 Q0 c 1 1_000 t\n", 4, "a finite number as the score, found '1_000'"),
    ("two signs.run", RUN + "q1 Q0 c 1 +-1 t\n", 4, "a finite number as the score, found '+-1'"),
    ("digits apart.csv", HEAD + "q1,b_2,1e1_0\n", 3, "a finite number as the score, found '1e1_0'"),
    ("two signs.csv", HEAD + "q1,b, +-1\n", 3, "a finite number as the score"),
    ("inf.run", RUN + "q1 Q0 c 1 -inf t\n", 4, "a finite number as the score, found '-inf'"),
    ("far.run", RUN + "q1 Q0 c 1 1e999 t\n", 4, "a finite number as the score, found '1e999'"),
    ("ragged.run", "\n" + RUN.replace(" ", "  ") + "\nq1 Q0 c  1 x t\n", 6, "found 'x'"),
    ("bytes.run", RUN.encode() + b"q1 Q0 \xff 1 1 t\n", 4, "UTF-8 text"),
    ("again.run", RUN + "q1 Q0 a 1 9.1 t\nq1 Q0 a 1 9.1 t\n", 4, "each document once for a query, found document 'a'"),
    ("qrels.run", QRELS, 1, "This looks like judgments, but they were passed as a run"),
    ("few.csv", HEAD + "q1,b\n", 3, "3 fields (query, doc, score), found 2"),
    ("many.csv", HEAD + "q1,b,1,2\n", 3, "3 fields (query, doc, score), found 4"),
    ("trailing.csv", HEAD + "q1,b,1,\n", 3, "3 fields (query, doc, score), found 4"),
    ("word.csv", HEAD + "q1,b,good\n", 3, "a finite number as the score, found 'good'"),
    ("nan.csv", HEAD + "q1,b,NaN\n", 3, "a finite number as the score, found 'NaN'"),
    ("nan of another query.csv", HEAD + "q9,b,nan\n", 3, "a finite number as the score, found 'nan'"),
    ("empty doc.csv", HEAD + "q1,,1\n", 3, "an id as doc, found an empty field"),
    ("quoted empty doc.csv", HEAD + 'q1,"",1\n', 3, "an id as doc, found an empty field"),
    ("empty score.csv", HEAD + "q1,b,\n", 3, "a finite number as the score, found nothing"),
    ("open.csv", HEAD + 'q1,"b,1\nq1,c,2\n', 3, "fields in quotes that are closed"),
    ("bytes.csv", HEAD.encode() + b"q1,\xff,1\n", 3, "UTF-8 text"),
    ("again.csv", HEAD + "q1,a,9\nq1,a,9\n", 3, "each document once"),
    ("names.csv", "a,b,c\n1,2,3\n", 1, "column names"),
    ("key.jsonl", LINES + '{"query": "q1", "score": 1}\n', 2, "the keys query, doc and score"),
    ("broken.jsonl", LINES + '{"query": "q1", \n', 2, "a JSON object"),
    ("string.jsonl", LINES + '{"query": "q1", "doc": "b", "score": "1"}\n', 2, "a finite number as the score, found '1'"),
    ("nan.jsonl", LINES + '{"query": "q1", "doc": "b", "score": NaN}\n', 2, "a finite number as the score"),
    ("null.jsonl", LINES + '{"query": null, "doc": "b", "score": 1}\n', 2, "as id, found None"),
    ("float.jsonl", LINES + '{"query": 1.5, "doc": "b", "score": 1}\n', 2, "as id, found 1.5"),
    ("list.jsonl", LINES + "[1, 2]\n", 2, "the keys query, doc and score"),
    ("keys twice.jsonl", LINES + '{"query": "q1", "doc": "b", "doc": "c", "score": 1}\n', 2, "'doc'"),
    ("again.jsonl", LINES + LINES, 2, "each document once"),
    ("broken.json", '{"q1": {"a": 1,\n "b": }}', 2, "JSON"),
    ("twice.json", '{"q1": {"a": 1, "a": 2}}', None, "'a' again"),
    ("query twice.json", '{"q1": {"a": 1}, "q1": {"b": 2}}', None, "'q1' again"),
    ("string.json", '{"q1": {"a": "1"}}', None, "query 'q1', document 'a': expected a finite number"),
    ("nan.json", '{"q1": {"a": NaN}}', None, "a finite number"),
    ("record.json", '[{"query": "q1", "doc": "a", "score": 1}, {"query": "q1"}]', None, "record 2"),
    ("large.json", '[{"query": "q1", "doc": "a", "score": 9007199254740993}]', None, "9007199254740993"),
    ("number.json", "[1, 2]", None, "{query: [doc, …]}"),
    ("binary.run", bytes(range(256)) * 20, None, "binary"),
    ("picture.run", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(99), None, "expected"),
    ("archive.run", b"PK\x03\x04" + bytes(99), None, "Unpack it first"),
    ("empty.run", "", None, "an empty file"),
    ("blank.run", " \n\t\n \r\n", None, "an empty file"),
    ("header.csv", "query,doc,score\n", None, "at least one retrieved document, found none"),
    ("cut.gz", GZIPPED[:-20], None, "cut off or damaged"),
    ("cut early.gz", GZIPPED[:12], None, "cut off or damaged"),
    ("damaged.gz", damaged(GZIPPED), None, "cut off or damaged"),
    ("cut.zst", ZSTANDARD[:-20], None, "cut off or damaged"),
    ("cut early.zst", ZSTANDARD[:6], None, "cut off or damaged"),
    ("damaged.zst", damaged(ZSTANDARD), None, "cut off or damaged"),
    ("empty.gz", gzip.compress(b""), None, "an empty file"),
    ("columns.parquet", parquet(a=["q1"], b=["d"], c=[1.0]), None, "a column for query, found only 'a', 'b', 'c'"),
    ("types.parquet", parquet(query=["q1"], doc=["d"], score=[[1.0]]), None, "numbers as scores"),
    ("none.parquet", parquet(query=["q1"], doc=["d"], score=pa.array([None], pa.float64())), None, "a finite number as the score, found nothing"),
    ("nan.parquet", parquet(query=["q1"], doc=["d"], score=[float("nan")]), None, "a finite number as the score, found nan"),
    ("no rows.parquet", parquet(query=pa.array([], pa.string()), doc=pa.array([], pa.string()), score=pa.array([], pa.float64())), None, "at least one retrieved document, found none"),
    ("cut.parquet", WHOLE[:-30], None, "expected"),
    ("half.parquet", WHOLE[: len(WHOLE) // 2], None, "expected"),
    ("damaged.parquet", damaged(WHOLE), None, "expected"),
    ("start.parquet", b"PAR1", None, "expected"),
]  # fmt: skip
NAMES = [name for name, *_ in RUNS]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "temporary").mkdir()
    return tmp_path


@pytest.fixture
def refused(place, cli, monkeypatch):
    """Check that a call fails as all failures do; return what it says."""
    monkeypatch.setattr(tempfile, "tempdir", str(place / "temporary"))

    def check(*arguments):
        before = sorted(path.name for path in place.iterdir())
        code, out, said = cli("evaluate", *arguments, "-o", place / "out")
        assert code == 2, said
        assert out == ""
        assert said.startswith("gainful: error: ")
        assert said.count("\n") == 1
        assert said.count(" expected ") == 1
        assert sorted(path.name for path in place.iterdir()) == before
        assert list((place / "temporary").iterdir()) == []
        return said

    return check


def written(place, name, content):
    path = place / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(("name", "content", "line", "said"), RUNS, ids=NAMES)
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@1"])
def test_runs(place, name, content, line, said, measure):
    path = written(place, name, content)
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(place / "qrels.txt", path, measure)
    where = f"{path}:{line}: " if line else str(path)
    assert str(caught.value).startswith(where)
    assert said in str(caught.value)


# One for each way in which a file fails.
ON_THE_COMMAND_LINE = ("few.run", "nan.run", "binary.run", "empty.run", "open.csv", "key.jsonl",
                "broken.json", "cut.gz", "damaged.zst", "columns.parquet", "half.parquet",
                "damaged.parquet")  # fmt: skip


@pytest.mark.parametrize("name", ON_THE_COMMAND_LINE)
def test_runs_on_the_command_line(place, refused, name):
    _, content, line, said = RUNS[NAMES.index(name)]
    path = written(place, name, content)
    told = refused(place / "qrels.txt", path)
    assert told.startswith(f"gainful: error: {path}" + (f":{line}: " if line else ""))
    assert said in told


def test_judgments_and_run_swapped(place, refused):
    run = written(place, "run.txt", RUN)
    told = refused(run, place / "qrels.txt")
    assert f"{run}:1: " in told
    assert "This looks like a run, but it was passed as judgments" in told


def test_a_document_judged_for_two_subtopics(place, refused):
    qrels = written(place, "diverse.qrels", "q1 1 a 1\nq1 2 a 1\n")
    told = refused(qrels, written(place, "run.txt", RUN))
    assert "--subtopics" in told
    assert "--subtopics" not in refused(
        place / "qrels.txt", written(place, "twice.run", RUN + "q1 Q0 a 1 0.5 t\n")
    )


def test_what_is_not_yet_part_of_a_folder_is_not_read(place):
    for name in (
        "part-0.parquet",
        "_temporary/part-1.parquet",
        ".part-2.crc.parquet",
        "_x.parquet",
    ):
        (place / "table" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "table" / name).write_bytes(parquet(query=["q1"], doc=["a"], score=[1.0]))
    scores = gf.evaluate({"q1": {"a": 1}}, place / "table", "RR")
    assert (scores["RR"], scores.coverage.retrieved) == (1.0, 1)


def test_an_array_with_something_else_names_it():
    with pytest.raises(gf.errors.InputError, match="such as None"):
        gf.ndcg([1, None])
    with pytest.raises(gf.errors.InputError, match="such as None"):
        gf.ndcg([10**400, None])


@pytest.mark.parametrize(
    ("large", "said"),
    [
        (2**53 + 1, "found 9007199254740993"),
        (-(10**20), "found -100000000000000000000"),
        (10**400, "found 1000"),
        (10**5000, "found a huge integer"),
    ],
    ids=["of 53 bits", "below all of 64 bits", "no float", "not even written"],
)
def test_an_array_with_too_large_an_integer_names_it(large, said):
    for grades in ([large, 1], [1, large]):
        with pytest.raises(gf.errors.InputError, match=rf"up to 2\^53, {said}"):
            gf.cg(grades)


def test_a_missing_file_a_folder_and_a_pattern(place, refused):
    qrels = place / "qrels.txt"
    assert "none of that name" in refused(qrels, place / "nowhere.run")
    (place / "folder").mkdir()
    assert "a folder with runs, found a folder without files" in refused(qrels, place / "folder")
    told = refused(qrels, place / "no*.parquet")
    assert f"{place}/no*.parquet: expected files that match the pattern, found none" in told


def test_labels_and_predictions_of_other_numbers(place, refused):
    labels = written(place, "labels.txt", "1 qid:1 1:0.5\n0 qid:1 1:0.1\n2 qid:2 1:0.3\n")
    told = refused(labels, written(place, "short.txt", "0.5\n0.1\n"))
    assert "short.txt: expected a prediction for each of the 3 labels" in told
    with pytest.raises(gf.errors.InputError, match="labels with qid: and a file of predictions"):
        gf.evaluate(labels, written(place, "run.txt", RUN))
    with pytest.raises(
        gf.errors.InputError, match=r"bad\.txt:2: expected a finite number as the score"
    ):
        gf.evaluate(labels, written(place, "bad.txt", "0.5\nx\n1\n"))
    with pytest.raises(gf.errors.InputError, match=r"odd\.txt:2: expected label qid:ID"):
        gf.evaluate(written(place, "odd.txt", "1 qid:1\n1\n"), written(place, "p.txt", "1\n1\n"))


def test_a_name_with_the_characters_of_patterns(place):
    expected = gf.evaluate(place / "qrels.txt", written(place, "plain.run", RUN)).means
    for name in ("a[1].run", "b*.run", "c?.run", "d{1,2}.run", "it's.run", 'say "a".run', "~.run"):
        assert gf.evaluate(place / "qrels.txt", written(place, name, RUN)).means == expected
    for name in ("e[1].csv", "f*.csv"):
        path = written(place, name, "query,doc,score\nq1,a,0.9\nq1,b,0.7\nq2,d,2\n")
        assert gf.evaluate(place / "qrels.txt", path).means == expected
    path = written(place, "g[1].parquet", parquet(
        query=["q1", "q1", "q2"], doc=["a", "b", "d"], score=[0.9, 0.7, 2.0]))  # fmt: skip
    assert gf.evaluate(place / "qrels.txt", path).means == expected


@pytest.mark.parametrize("ending", [".gz", ".zst", ".csv.gz", ".parquet", ".json"])
def test_the_content_tells_the_format_not_the_name(place, ending):
    expected = gf.evaluate(place / "qrels.txt", written(place, "plain.run", RUN)).means
    rows = "query,doc,score\nq1,a,0.9\nq1,b,0.7\nq2,d,2\n"
    for content in (RUN, rows):
        path = written(place, f"run{ending}", content)
        assert gf.evaluate(place / "qrels.txt", path).means == expected


@pytest.mark.parametrize(
    "header", ["qid iter docid rel", "Topic Iteration DocNo Relevance", "query id doc grade"]
)
def test_a_header_in_trec_judgments(header, files):
    judgments = files("j.qrels", f"{header}\nq 0 a 1\n")
    advice = f"'{header}' looks like a header. TREC files don't have one, so remove it."
    with pytest.raises(gf.errors.InputError, match=advice) as caught:
        gf.evaluate(judgments, {"q": {"a": 1.0}}, "nDCG")
    assert advice in str(gf.check(judgments))
    assert "grade-words" not in str(caught.value)


def test_null_in_json_lines(files):
    row, advice = (
        '{"query": "q", "doc": "a", "grade": 1}\n',
        "A line with null contains no row: remove it.",
    )
    for content, line in ((f"null\n{row}", 1), (f"{row}null\n", 2)):
        judgments = files("j.jsonl", content)
        with pytest.raises(gf.errors.InputError, match=rf":{line}: .*found 'null'\. {advice}"):
            gf.evaluate(judgments, {"q": {"a": 1.0}}, "nDCG")
