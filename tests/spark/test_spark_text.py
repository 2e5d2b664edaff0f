"""Text files on Spark: Spark cuts them into lines, and every line is read as on this machine."""

import gzip

import pytest

import gainful as gf
from gainful.rows.files import BYTE_ORDER_MARK
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.spark_frames import text_on_spark
from odd_files import FILES, LINES_JOINED, REFUSED

JUDGMENTS = {"q": {"a": 1, "b": 3}, "1": {"2": 1}}


def on_spark(path):
    return gf.evaluate(JUDGMENTS, str(path), "nDCG", engine=gf.Spark())


def on_this_machine(path):
    return gf.evaluate(JUDGMENTS, str(path), "nDCG")


@pytest.fixture
def written(tmp_path):
    """A path of each of the odd files that are asked for."""

    def write(name):
        path = tmp_path / name
        path.write_bytes(FILES[name][0])
        return path

    return write


def rows_of(frame):
    return sorted((row["query"], row["doc"], row["number"]) for row in frame.collect())


def test_every_odd_file_is_cut_into_its_lines(spark, tmp_path):
    """Byte for byte, in their order; all else is done without Spark, and tested there."""
    for number, (content, _) in enumerate(FILES.values()):
        (tmp_path / f"{number}.txt").write_bytes(content)
    found = {}
    for row in text_on_spark(str(tmp_path), spark).lines.collect():
        number = int(row["file"].rpartition("/")[2].removesuffix(".txt"))
        found.setdefault(number, []).append(bytes(row["line"]))
        assert row["start"] == 0
    for number, (content, _) in enumerate(FILES.values()):
        lines = content.removesuffix(b"\n").split(b"\n") if content else []
        # A byte order mark may be left out already.
        got = [line.removeprefix(BYTE_ORDER_MARK) for line in found.get(number, [])]
        assert got == [line.removeprefix(BYTE_ORDER_MARK) for line in lines], number


@pytest.mark.parametrize(
    "name",
    [
        "byte order mark.csv",
        "quotes.tsv",
        "integers as ids.jsonl",
        "one field more.csv",
        "latin-1.csv",
        "rest after the object.jsonl",
        "score that is no float64.jsonl",
        "header alone.csv",
        "empty.csv",
        "trec lines.tsv",
        "line end in a column that is not read.csv",
    ],
)
def test_a_file_gives_the_same_number_or_the_same_message(spark, written, name):
    assert spark.version
    path = written(name)
    if name in LINES_JOINED:
        with pytest.raises(
            gf.errors.InputError, match=r"\.csv:2: expected a field in quotes that ends on"
        ):
            on_spark(path)
        return
    if FILES[name][1] is REFUSED:
        messages = []
        for read in (on_spark, on_this_machine):
            with pytest.raises(gf.errors.InputError) as caught:
                read(path)
            messages.append(str(caught.value).removeprefix(f"{path}:").removeprefix("run:"))
        assert messages[0] == messages[1]
        return
    found, expected = on_spark(path), on_this_machine(path)
    assert found.means == expected.means
    assert found.signature("nDCG") == expected.signature("nDCG")


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_a_file_in_many_parts(spark, tmp_path, ending):
    """Only the first part has a header; a fault names the part."""
    documents = {f"q{n % 3}": {} for n in range(3)}
    lines = ["query,doc,score"] if ending == ".csv" else []
    for n in range(100):
        documents[f"q{n % 3}"][f"é{n}"] = n / 7
        as_csv, as_json = (
            f'q{n % 3},"é{n}",{n / 7!r}',
            f'{{"query":"q{n % 3}","doc":"é{n}","score":{n / 7!r}}}',
        )
        lines.append(as_csv if ending == ".csv" else as_json)
    path = tmp_path / f"run{ending}"
    path.write_text("\r\n".join(lines))
    setting = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(setting)
    try:
        spark.conf.set(setting, "700")
        text = text_on_spark(str(path), spark)
        parts = text.lines.select("start").distinct().count()
        assert parts > 1
        expected = [(q, d, s) for q, found in documents.items() for d, s in found.items()]
        assert rows_of(text.read(RUN, {})) == sorted(expected)
        path.write_text("\r\n".join([*lines, "x"]))
        with pytest.raises(
            gf.errors.InputError, match=r"run\.\w+, line \d+ after byte \d{3,}: expected"
        ):
            gf.evaluate({"q0": {"é0": 1}}, str(path), "nDCG", engine=gf.Spark())
    finally:
        spark.conf.set(setting, before)


def test_several_files_have_the_same_header(spark, tmp_path):
    folder = tmp_path / "run.csv"
    folder.mkdir()
    (folder / "1.csv").write_text("query,doc,score\nq,a,1\n")
    (folder / "2.csv").write_text("query,doc,score\nq,b,2\n")
    (folder / "_SUCCESS").write_text("")
    expected = gf.evaluate(JUDGMENTS, {"q": {"a": 1, "b": 2}}, "nDCG")
    assert on_spark(folder).means == expected.means
    (folder / "2.csv").write_text("doc,query,score\nq,b,2\n")
    with pytest.raises(
        gf.errors.InputError, match=r"[12]\.csv:1: expected the columns .*, as in another file"
    ):
        on_spark(folder)


def test_packed_files(spark, tmp_path):
    content = b"query,doc,score\nq,a,1\nq,b,2\n" + b"".join(b"q,x%d,0\n" % n for n in range(5000))
    path = tmp_path / "run.csv.gz"
    path.write_bytes(gzip.compress(content))
    assert on_spark(path).means == gf.evaluate(JUDGMENTS, str(path), "nDCG").means
    path.write_bytes(gzip.compress(content)[:-2000])
    with pytest.raises(gf.errors.InputError, match=r"^Spark: expected readable rows, found EOFExc"):
        on_spark(path)
    (tmp_path / "run.csv").write_bytes(gzip.compress(content))  # not by its name
    with pytest.raises(gf.errors.InputError):
        on_spark(tmp_path / "run.csv")


def test_judgments_are_as_strict(spark, tmp_path):
    run = spark.createDataFrame([("q", "a", 1.0)], "query string, doc string, score double")
    for name, content, expected in (
        ("j.csv", "query,doc,grade\nq,a,1\nq,b,true\n", r"j\.csv:3: .*a finite number as the grade, found 'true'"),
        ("j.jsonl", '{"query":"q","doc":"a","grade":1} 2\n', r"j\.jsonl"),
        ("l.jsonl", '{"query":"q","doc":"a"}\n{"query":"q","doc":"b","grade":3}\n',
         r"l\.jsonl:2: expected a grade in every row, or in none as in the first line"),
        ("k.csv", "query,doc,grade\n", "at least one judged document, found none"),
    ):  # fmt: skip
        (tmp_path / name).write_text(content)
        with pytest.raises(gf.errors.InputError, match=expected):
            gf.evaluate(str(tmp_path / name), run, "nDCG", engine=gf.Spark())


NAMED = [
    # content, columns, what a dict of it is; or what is said
    ("user,item,stars,when\nq,a,1,900\nq,b,2,800\n",
     {"query": "user", "doc": "item", "score": "stars"}, {"q": {"a": 1, "b": 2}}),
    ("1,2,3\nq,a,2\n", {"query": "1", "doc": 2, "score": "3"}, {"1": {"2": 3}, "q": {"a": 2}}),
    ("query,doc,score\nq,a,2\n", {"score": "scores"}, "the column 'scores' for score"),
    ("query,doc,score\nq,a,2\n", {"query": "1", "doc": "2", "score": "3"}, "a finite number as the score"),
    ("query,doc,rank\nq,a,2\nq,b,1\n", None, {"q": {"a": -2, "b": -1}}),
    ("query,doc,place\nq,a,2.5\nq,b,1\n", {"rank": "place"}, {"q": {"a": -2.5, "b": -1}}),
    ("query,doc,rank\nq,a,2.5\nq,b,1\n", None, r"whole numbers from 1 \(or 0\), because the name"),
    ("query,doc,rank\nq,a,2\nq,b,2\n", None, "a different rank for each document"),
    ('{"query":"q","doc":"a","rank":2}\n{"query":"q","doc":"b","rank":1}\n', None, {"q": {"a": -2, "b": -1}}),
]  # fmt: skip


@pytest.mark.parametrize(("content", "columns", "expected"), NAMED)
def test_named_columns_and_ranks(spark, tmp_path, content, columns, expected):
    """As in a file that is read on this machine, from text, and from a data frame with a header."""
    path = tmp_path / ("run.jsonl" if content.startswith("{") else "run.csv")
    path.write_text(content)
    forms = {"DuckDB": (str(path), None), "Spark": (str(path), gf.Spark())}
    if columns is None and path.suffix == ".csv":
        forms["data frame"] = spark.read.csv(str(path), header=True, inferSchema=True), None
    judgments = {"q": {"a": 1, "b": 3}, "1": {"2": 1}}
    for form, (run, engine) in forms.items():
        if isinstance(expected, str):
            with pytest.raises(gf.errors.InputError, match=expected):
                gf.evaluate(judgments, run, "nDCG", columns=columns, engine=engine)
        else:
            found = gf.evaluate(judgments, run, "nDCG", columns=columns, engine=engine)
            assert found.means == gf.evaluate(judgments, expected, "nDCG").means, form
