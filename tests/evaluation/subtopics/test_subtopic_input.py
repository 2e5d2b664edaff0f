"""Judgments of subtopics from every kind of input, and what is wrong with them."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf

ROWS = [
    ("q1", "1", "d1", 1),
    ("q1", "1", "d2", 2),
    ("q1", "2", "d3", 1),
    ("q1", "2", "d1", 0),
    ("q2", "7", "d4", 1),
]
NESTED = {
    "q1": {"1": {"d1": 1.0, "d2": 2.0}, "2": {"d3": 1.0, "d1": 0.0}},
    "q2": {"7": {"d4": 1.0}},
}
RUN = {"q1": {"d1": 3, "d2": 2, "d3": 1}, "q2": {"x": 2, "d4": 1}}
NAMES = ("query", "subtopic", "doc", "grade")


def lines(separator, header=()):
    rows = [header] if header else []
    return "".join(separator.join(map(str, row)) + "\n" for row in (*rows, *ROWS))


def columns(names=NAMES):
    return dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))


def records():
    return [dict(zip(NAMES, row, strict=True)) for row in ROWS]


TEXTS = {
    "qrels.txt": lines(" "),
    "tabs.txt": lines("\t"),
    "blanks.txt": "\n  " + lines("  \t ").replace("\n", " \r\n"),
    "packed.txt.gz": gzip.compress(lines(" ").encode()),
    "table.csv": lines(",", NAMES),
    "quoted.csv": lines(",", NAMES).replace("d3", '"d3"'),
    "table.tsv": lines("\t", ("qid", "intent", "docno", "rel")),
    "marked.csv": b"\xef\xbb\xbf" + lines(";", ("topic", "facet", "docid", "label")).encode(),
    "lines.jsonl": "".join(json.dumps(record) + "\n" for record in records()),
    "records.json": json.dumps(records()),
    "nested.json": json.dumps(NESTED),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_is_read(files, name):
    path = files(name, TEXTS[name])
    assert gf.subtopics.read_subtopics(path) == gf.subtopics.read_subtopics(str(path)) == NESTED


def frames(tmp_path):
    pq.write_table(pa.table(columns()), tmp_path / "rows.parquet")
    yield tmp_path / "rows.parquet"
    yield tmp_path  # the directory of it
    yield pd.DataFrame(columns())
    yield pd.DataFrame(columns()).astype({"subtopic": "category"})
    yield pd.DataFrame({**columns(), "subtopic": [1, 1, 2, 2, 7]})
    yield pl.DataFrame(columns(("query_id", "iteration", "doc_id", "relevance")))
    yield pl.DataFrame(columns()).lazy()
    yield pa.table(columns(("topic", "subtopic_id", "document", "label")))
    yield pa.table(columns()).to_reader()


def test_every_table_is_read(tmp_path):
    for table in frames(tmp_path):
        assert gf.subtopics.read_subtopics(table) == NESTED


def test_ids_are_strings():
    given = {1: {2: {3: np.float32(1), "4": True}}}
    assert gf.subtopics.read_subtopics(given) == {"1": {"2": {"3": 1.0, "4": 1.0}}}


def test_columns_can_be_named(files, tmp_path):
    names = ("who", "aspect", "what", "how")
    asked = dict(zip(("query", "subtopic", "doc", "grade"), names, strict=True))
    assert gf.subtopics.read_subtopics(pl.DataFrame(columns(names)), columns=asked) == NESTED
    assert gf.subtopics.read_subtopics(files("t.csv", lines(",", names)), columns=asked) == NESTED
    numbered = {"query": "1", "judgments.subtopic": "2", "doc": "3", "grade": "4"}
    assert gf.subtopics.read_subtopics(files("bare.csv", lines(",")), columns=numbered) == NESTED
    run = pl.DataFrame({"who": ["q1"], "what": ["d1"], "score": [1.0]})
    scores = gf.subtopics.evaluate_subtopics(
        pl.DataFrame(columns(names)), run, "strec@1", columns=asked
    )
    assert scores.per_query["strec@1"] == [0.5, 0.0]
    # Where there are no subtopics, the key has no meaning.
    with pytest.raises(gf.errors.InputError, match="an input with columns"):
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, columns={"subtopic": "x"})


def test_runs_of_every_kind(files):
    expected = gf.subtopics.evaluate_subtopics(NESTED, RUN).means
    text = "".join(
        f"{query} Q0 {doc} 0 {score} t\n" for query in RUN for doc, score in RUN[query].items()
    )
    rows = [(query, doc, score) for query in RUN for doc, score in RUN[query].items()]
    frame = pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row")
    for run in (files("r.run", text), files("r.json", json.dumps(RUN)), frame, frame.to_pandas()):
        assert (
            gf.subtopics.evaluate_subtopics(files("qrels.txt", TEXTS["qrels.txt"]), run).means
            == expected
        )


BAD = [
    ("three.txt", "q1 1 d1\n", "three.txt:1: expected 4 fields"),
    ("later.txt", "q1 1 d1 1\nq1 d1 1\n", "later.txt:2: expected 4 fields"),
    ("run.txt", "q1 1 d1 1\nq1 Q0 d1 1 2 t\n", "This looks like a run"),
    ("grade.txt", "q1 1 d1 high\n", "grade.txt:1: expected a finite number as the grade"),
    ("nan.txt", "q1 1 d1 nan\n", "nan.txt:1: expected a finite number"),
    ("bytes.txt", b"q1 1 d\xff 1\n", "bytes.txt:1: expected UTF-8"),
    ("twice.txt", "q1 1 d1 1\nq1 2 d1 1\nq1 1 d1 0\n", "twice.txt:3: expected each document once"),
    ("twice.csv", lines(",", NAMES) + "q1,1,d1,1\n", "twice.csv:7: expected each document once"),
    ("none.csv", lines(",", ("query", "thing", "doc", "grade")), "a column for subtopic"),
    ("same.csv", "query,doc,grade\nq,a,1\n", "a column for subtopic"),
    ("hole.csv", "query,subtopic,doc,grade\nq,,a,1\n", "hole.csv:2: expected an id as subtopic"),
    ("key.jsonl", '{"query":"q","subtopic":"s","doc":"d","grade":1}\n{"query":"q","doc":"d","grade":1}\n', "key.jsonl:2: expected an id as subtopic, found nothing"),
    ("id.jsonl", '{"query":"q","subtopic":1.5,"doc":"d","grade":1}\n', "id.jsonl:1: expected a string"),
    ("key.json", '[{"query":"q","subtopic":"s","doc":"d","grade":1},{"query":"q"}]', "record 2"),
    ("flat.json", '{"q": {"d": 1}}', "flat.json, query 'q', subtopic 'd': expected a dict"),
    ("twice.json", '{"q": {"s": {"d": 1, "d": 2}}}', "'d' again"),
    ("word.json", '{"q": {"s": {"d": "1"}}}', "subtopic 's', document 'd': expected a finite"),
    ("cut.json", '{"q": {"s": ', "expected JSON"),
    ("empty.txt", "", "an empty file"),
    ("labels.txt", "1 qid:1 1:0.5\n", "judgments with subtopics"),
    ("hollow.json", '{"q": {"s": {}}}', "at least one grade"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[case[0] for case in BAD])
def test_bad_files_are_refused_with_their_place(files, name, content, message):
    with pytest.raises(gf.errors.InputError) as caught:
        gf.subtopics.evaluate_subtopics(files(name, content), RUN)
    assert message in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(gf.errors.InputError, match="none of that name"):
        gf.subtopics.read_subtopics(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"subtopic": ["1", None, "2", "2", "7"]}, "row 2: expected an id as subtopic"),
        ({"subtopic": ["1", "1", "2", "2", "2"], "doc": ["a"] * 5, "query": ["q"] * 5}, "row 2"),
        ({"grade": [1, 2, None, 0, 1]}, "row 3, query 'q1', subtopic '2', document 'd3'"),
        ({"grade": [1.0, 2.0, float("nan"), 0.0, 1.0]}, "a finite number as the grade"),
        ({"subtopic": [0.5] * 5}, "row 1: expected a string"),
        ({"grade": ["a"] * 5}, "judgments"),
    ],
)
def test_bad_tables_are_refused_with_their_place(change, message):
    for frame in (pl.DataFrame, pa.table):
        with pytest.raises(gf.errors.InputError) as caught:
            gf.subtopics.read_subtopics(frame({**columns(), **change}))
        assert message in str(caught.value)


def test_objects_as_ids_are_refused():
    frame = pd.DataFrame(
        {**columns(), "subtopic": pd.Series(["1", 2.5, "2", "2", "7"], dtype=object)}
    )
    with pytest.raises(gf.errors.InputError, match=r"column 'subtopic': expected a string"):
        gf.subtopics.read_subtopics(frame)
    with pytest.raises(gf.errors.InputError, match="'doc' given for two"):
        gf.subtopics.read_subtopics(pl.DataFrame(columns()), columns={"subtopic": "doc"})


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ({"q": {"d": 1}}, "judgments, query 'q', subtopic 'd': expected a dict {doc: grade}"),
        ({"q": [1]}, "query 'q': expected a dict {subtopic: {doc: grade}}"),
        ({"q": {"s": {"a, b": "1"}}}, "query 'q', subtopic 's', document 'a, b'"),
        ({"q": {"s": {"a": float("inf")}}}, "a finite number as the grade"),
        ({"q": {1.5: {"a": 1}}}, "judgments, query 'q', subtopic ids"),
        ({"q": {1: {"a": 1}, "1": {"a": 1}}}, "each subtopic once"),
        ({"q": {"s": {1: 1, "1": 1}}}, "query 'q', subtopic 's': expected each document once"),
        ({"q": {"s": {None: 1}}}, "subtopic 's', document ids"),
        ({}, "at least one grade"),
        (7, "the path of a file"),
    ],
)
def test_bad_dicts_are_refused_with_their_place(judgments, message):
    with pytest.raises(gf.errors.InputError) as caught:
        gf.subtopics.evaluate_subtopics(judgments, RUN)
    assert message in str(caught.value)


def test_duplicates_follow_the_policy(files):
    path = files("twice.txt", "q1 1 d1 1\nq1 1 d1 2\nq1 1 d1 0\n")
    for answer, grade in (("first", 1.0), ("best", 2.0)):
        read = gf.subtopics.read_subtopics(path, policy=gf.Policy(duplicates=answer))
        assert read == {"q1": {"1": {"d1": grade}}}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (7, "a dict {query: {subtopic: weight}}"),
        ({"q1": {"1": 1, "2": 1}}, "none for query 'q2'"),
        ({"q1": {"1": 1}, "q2": {"7": 1}}, "weights, query 'q1': expected every subtopic"),
        (
            {"q1": {"1": 1, "2": -1}, "q2": {"7": 1}},
            "subtopic '2': expected a non-negative number",
        ),
        ({"q1": {"1": 1, "2": "x"}, "q2": {"7": 1}}, "subtopic '2'"),
        ({"q1": {"1": 1, "2": float("nan")}, "q2": {"7": 1}}, "subtopic '2'"),
        ({"q1": {"1": 0, "2": 0}, "q2": {"7": 1}}, "a positive weight"),
        ({"q1": 1, "q2": {"7": 1}}, "query 'q1': expected a dict"),
        ({"q1": {1: 1, "1": 1}, "q2": {"7": 1}}, "each subtopic once"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(gf.errors.InputError) as caught:
        gf.subtopics.evaluate_subtopics(NESTED, RUN, weights=weights)
    assert message in str(caught.value)


def test_weights_say_what_matters():
    def value(first, second, measure):
        weights = {"q1": {"1": first, "2": second, "unknown": 5}, "q2": {7: 1}}
        return gf.subtopics.evaluate_subtopics(NESTED, RUN, measure, weights=weights).per_query[
            measure
        ][0]

    # d1 and d2 are good for subtopic 1, d3 at rank 3 for subtopic 2.
    assert value(1, 0, "IA(RR)") == 1.0
    assert value(0, 1, "IA(RR)") == pytest.approx(1 / 3)
    assert value(0.75, 0.25, "P_IA@2") == pytest.approx(0.75)
    assert value(1e308, 1e308, "P_IA@2") == value(1, 1, "P_IA@2") == 0.5
    assert value(1, 0, "strec@1") == value(0, 1, "strec@1") == 0.5  # a count
    assert value(9, 1, "alpha_nDCG@1") == 1.0
    assert value(1, 9, "alpha_nDCG@1") == pytest.approx(1 / 9)
    weights = pd.DataFrame({"query": [*"112"], "subtopic": [*"127"], "weight": [1, 9, 1]})
    weights["query"] = "q" + weights["query"]
    scores = gf.subtopics.evaluate_subtopics(NESTED, RUN, "alpha_nDCG@1", weights=weights)
    assert scores.per_query["alpha_nDCG@1"][0] == pytest.approx(1 / 9)


def test_the_command(cli, files):
    judgments, run = files("qrels.txt", TEXTS["qrels.txt"]), files("a.json", json.dumps(RUN))
    other = files("b.json", json.dumps({"q1": {"d3": 1}}))
    scores = gf.subtopics.evaluate_subtopics(judgments, run, ["alpha_nDCG@20"])
    done = cli("evaluate", "--subtopics", judgments, run, other)
    assert (done.returncode, done.stderr) == (0, "")
    table = done.stdout.splitlines()
    assert table[0].split() == ["run", "alpha_nDCG@20"]
    assert [line.split()[0] for line in table[2:4]] == ["a", "b"]
    assert f"{scores['alpha_nDCG@20']:.4f}" in table[2]
    assert "1 of 2 queries returned nothing" in " ".join(done.stdout.split())
    call = ("evaluate", "--subtopics", judgments, run, "-m", "D#-nDCG@10", "-m", "IA(AP)")
    document = json.loads(cli(*call, "-f", "json", "--per-query").stdout)
    expected = gf.subtopics.evaluate_subtopics(judgments, run, ["Dsharp_nDCG@10", "IA(AP)"])
    assert document["runs"][0]["means"] == expected.means
    assert document["runs"][0]["signatures"]["IA(AP)"] == expected.signature("IA(AP)")
    bare = cli(*call, "-f", "csv")
    assert bare.stdout.splitlines()[0] == "run,Dsharp_nDCG@10,IA(AP)"
    assert "2 queries." in bare.stderr
    piped = cli("evaluate", "--subtopics", "-", run, other, stdin=TEXTS["qrels.txt"])
    assert piped.stdout == done.stdout
    for arguments, message in (
        ((judgments, run, "-m", "nDCG@10"), "write IA(M)"),
        ((judgments, run, "--ties", "average"), "with subtopics"),
        ((judgments, run, "--chunks", "#", "--fold", "max"), "policy fold: expected auto or none"),
        ((run, run), "expected"),
    ):
        failed = cli("evaluate", "--subtopics", *arguments)
        assert failed.returncode == 2
        assert message in failed.stderr
        assert "Traceback" not in failed.stderr


def test_the_catalogue_on_the_command_line(cli):
    listed = cli("measures", "--subtopics").stdout
    assert all(family.name in listed for family in gf.subtopics.subtopic_catalogue())
    assert "greedy ideal" in cli("measures", "--subtopics", "alpha-nDCG").stdout
    assert cli("measures", "--subtopics", "nonsense").returncode == 2


def test_the_other_measures_know_the_names_of_these():
    known = [
        name
        for family in gf.subtopics.subtopic_catalogue()
        for name in (family.name, *(spelling.name for spelling in family.spellings))
    ]
    for name in known:
        for ask in (gf.measures.family, gf.subtopics.subtopic_family):
            assert ask(name).needs == "subtopics"
        if name != "IA":  # which has another measure in its brackets
            asked = gf.measure(f"{name}@3") if gf.measures.family(name).cutoff != "never" else name
            with pytest.raises(gf.errors.MeasureError, match=r"[Pp]ass subtopics=…"):
                gf.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, asked)
