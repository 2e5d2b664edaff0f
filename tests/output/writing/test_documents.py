"""Runs and judgments: the text of a file, the order in it, and what is refused before it is touched."""

import gzip
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf


def lines(path):
    return path.read_text().splitlines()


def test_a_run_in_trec(tmp_path):
    run = {"q10": {"x": 1}, "q9": {"a": 0.5, "é": 0.5, "Z": 0.5, "b": 3, "c": 1e-7}}
    gf.write_run(run, tmp_path / "x.run", tag="mine")
    assert lines(tmp_path / "x.run") == [
        "q9 Q0 b 1 3.0 mine",
        "q9 Q0 é 2 0.5 mine",
        "q9 Q0 a 3 0.5 mine",
        "q9 Q0 Z 4 0.5 mine",
        "q9 Q0 c 5 1e-07 mine",
        "q10 Q0 x 1 1.0 mine",
    ]


def test_judgments_in_trec_have_whole_grades(tmp_path):
    judgments = {"q": {"b": 2, "a": 0.5, "c": -1.0, "d": 1e22, "e": 10, "f": 0}}
    gf.write_judgments(judgments, tmp_path / "x.qrels")
    written = [line.split() for line in lines(tmp_path / "x.qrels")]
    assert [fields[:3] for fields in written] == [["q", "0", doc] for doc in "bacdef"]
    assert [fields[3] for fields in written] == ["2", "0.5", "-1", "1e+22", "10", "0"]


def test_tables_have_names_that_are_read(tmp_path):
    for end, head in (
        ("csv", "query,doc,{}"),
        ("tsv", "query\tdoc\t{}"),
        ("jsonl", '{{"query":"q","doc":"a","{}":1.0}}'),
    ):
        gf.write_run({"q": {"a": 1}}, tmp_path / f"x.{end}")
        assert lines(tmp_path / f"x.{end}")[0] == head.format("score")
        gf.write_judgments({"q": {"a": 1}}, tmp_path / f"x.{end}")
        assert lines(tmp_path / f"x.{end}")[0] == head.format("grade")


@given(
    st.dictionaries(
        st.text("ab0é\U0001f600", min_size=1, max_size=2),
        st.sampled_from([-1.0, -0.0, 0.0, 0.5]),
        min_size=1,
    )
)
@settings(max_examples=40)
def test_ranks_follow_the_scores_and_ties_the_ids(tmp_path_factory, docs):
    file = tmp_path_factory.mktemp("ranks") / "x.run"
    gf.write_run({"q": docs}, file)
    fields = [line.split(" ") for line in lines(file)]
    best_first = sorted(docs, key=lambda doc: (docs[doc], doc.encode()), reverse=True)
    assert [field[2] for field in fields] == best_first
    assert [field[3] for field in fields] == [str(rank + 1) for rank in range(len(docs))]


def test_the_same_run_gives_the_same_bytes(tmp_path):
    run = {f"q{query}": {f"d{doc}": doc / 3 for doc in range(50)} for query in range(50)}
    turned = {query: dict(reversed(docs.items())) for query, docs in reversed(run.items())}
    for end in ("run", "csv.gz", "jsonl.zst", "parquet"):
        gf.write_run(run, tmp_path / f"one.{end}")
        gf.write_run(turned, tmp_path / f"two.{end}")
        assert (tmp_path / f"one.{end}").read_bytes() == (tmp_path / f"two.{end}").read_bytes()


def test_large_files_are_packed_whole(tmp_path):
    run = {f"q{query}": {f"doc{doc:09}": doc / 7 for doc in range(1000)} for query in range(90)}
    gf.write_run(run, tmp_path / "x.run")
    gf.write_run(run, tmp_path / "x.run.gz")
    content = (tmp_path / "x.run").read_bytes()
    assert len(content) > 3 << 20  # several parts
    assert gzip.decompress((tmp_path / "x.run.gz").read_bytes()) == content
    gf.write_run(tmp_path / "x.run.gz", tmp_path / "y.run.zst")
    gf.write_run(tmp_path / "y.run.zst", tmp_path / "z.run")
    assert (tmp_path / "z.run").read_bytes() == content


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\v", "\f", "\r"])
def test_trec_holds_no_white_space(blank, tmp_path):
    file = tmp_path / "x.run"
    file.write_text("old")
    for run, where in (
        ({f"q{blank}": {"a": 1}}, "run, query 'q"),
        ({"q": {"a": 1, f"a{blank}b": 2}}, "run, query 'q', document 'a"),
    ):
        with pytest.raises(gf.errors.InputError, match="without white space") as caught:
            gf.write_run(run, file)
        assert caught.value.where.startswith(where)
        assert repr(f"{blank}")[1:-1] in caught.value.found
        assert "write CSV, TSV, JSON lines or Parquet" in caught.value.remedy
    assert file.read_text() == "old"


@pytest.mark.parametrize("end", ["run", "csv", "tsv", "jsonl", "parquet"])
def test_no_file_holds_an_empty_id(end, tmp_path):
    for run in ({"": {"a": 1}}, {"q": {"": 1}}):
        with pytest.raises(gf.errors.InputError, match="expected an id, found an empty one"):
            gf.write_run(run, tmp_path / f"x.{end}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("query", ["\ufeffq", "a\0b"])
def test_a_first_line_that_would_be_taken_for_another_format(query, tmp_path):
    with pytest.raises(gf.errors.InputError, match="TREC"):
        gf.write_run({query: {"a": 1}}, tmp_path / "x.run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"q": {"a": float("nan")}}, "a finite number as the score"),
        ({"q": {"a": "1"}}, "a finite number as the score"),
        ({"q": {"a": 1, 1: 1, "1": 2}}, "as a string and as an integer"),
        ({"q": {}}, "at least one retrieved document"),
        ({"q": {"\ud800": 1}}, "run"),
        (3, "a dict {query: {doc: score}}"),
        ("no such file", "none of that name"),
    ],
)
def test_what_is_no_run_is_refused(run, said, tmp_path):
    with pytest.raises(gf.errors.InputError, match=said):
        gf.write_run(run, tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_bad_files_are_refused_with_their_line(tmp_path):
    (tmp_path / "twice.run").write_text("q Q0 a 1 2 t\nq Q0 a 2 1 t\n")
    (tmp_path / "labels.txt").write_text("1 qid:1 1:0.5\n")
    with pytest.raises(gf.errors.InputError, match=r"twice.run:2: expected each document once"):
        gf.write_run(tmp_path / "twice.run", tmp_path / "x.csv")
    with pytest.raises(gf.errors.InputError, match="documents with ids"):
        gf.write_judgments(tmp_path / "labels.txt", tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_queries_without_documents_are_named(tmp_path):
    with pytest.warns(gf.errors.GainfulWarning, match="not in the file: 'q2', 'q10'") as caught:
        gf.write_run({"q": {"a": 1}, "q10": {}, "q2": {}}, tmp_path / "x.run")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.write_run({"q": {"a": 1}}, tmp_path / "x.run")


@pytest.mark.parametrize("tag", ["", "two words", "line\n", None])
def test_a_tag_is_one_word(tag, tmp_path):
    with pytest.raises(gf.errors.InputError, match="tag: expected a word"):
        gf.write_run({"q": {"a": 1}}, tmp_path / "x.run", tag=tag)


@pytest.mark.parametrize("name", ["run.csv", "run.run", "run.jsonl", "run.parquet"])
def test_empty_lists_that_a_file_cannot_hold_are_told(name, tmp_path, cli):
    (tmp_path / "lists.json").write_text('{"q1": ["a"], "q2": [], "q3": []}')
    told = "queries without documents are not in the file: 'q2', 'q3'. .* read back, 2 queries are missing"
    with pytest.warns(gf.errors.GainfulWarning, match=told):
        gf.write_run(tmp_path / "lists.json", tmp_path / name)
    done = cli("convert", tmp_path / "lists.json", tmp_path / f"again-{name}", "--as", "run")
    assert (done.returncode, done.stderr.count("2 queries are missing")) == (0, 1)
    judgments = {query: {"a": 1} for query in ("q1", "q2", "q3")}
    assert gf.evaluate(judgments, tmp_path / name, "RR").coverage.missing == ("q2", "q3")
    assert gf.evaluate(judgments, tmp_path / "lists.json", "RR").coverage.missing == ()
