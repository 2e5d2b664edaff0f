"""Every rule of a check: where it fires, with count and place, and where it does not."""

import math

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from gainful.rows import table_source

JUDGMENTS = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"d": 1, "e": 0}}
RUN = {"q1": {"a": 0.9, "b": 0.8, "c": 0.7}, "q2": {"d": 0.6, "e": 0.5}}


def check(judgments=JUDGMENTS, run=RUN, **options):
    runs = None if run is None else {"mine": run}
    return gf.check(judgments, runs, **{"cutoff": 2, **options})


def found(rule, *arguments, **options):
    """Return the one finding of a rule; None if there is none."""
    findings = [each for each in check(*arguments, **options) if each.rule == rule]
    assert len(findings) <= 1
    for finding in findings:
        known = {each.name: each for each in gf.results.Findings.rules}[rule]
        assert (finding.severity, finding.remedy) == (known.severity, known.remedy)
    return findings[0] if findings else None


def qrels(documents):
    return "".join(f"{q} 0 {d} {n}\n" for q, docs in documents.items() for d, n in docs.items())


def trec(documents):
    return "".join(
        f"{q} Q0 {d} {rank} {n} t\n"
        for q, docs in documents.items()
        for rank, (d, n) in enumerate(docs.items(), 1)
    )


def test_what_is_clean_is_said_to_be():
    findings = check(scale=(0, 3))
    assert len(findings) == 0
    assert findings.clean
    assert findings.summary == "clean: 0 errors, 0 warnings, 0 notes in judgments, mine"
    assert str(findings) == findings.summary
    assert [each.rule for each in check(run=None)] == ["grades"]


def test_rules_have_names_that_stay_and_every_field():
    assert len({rule.name for rule in gf.results.Findings.rules}) == len(gf.results.Findings.rules)
    for rule in gf.results.Findings.rules:
        assert rule.name == rule.name.lower().replace(" ", "-")
        assert rule.severity in ("error", "warning", "note")
        assert rule.what.endswith(".")
        assert rule.remedy.endswith(".")
    order = ["error", "warning", "note"]
    places = [order.index(rule.severity) for rule in gf.results.Findings.rules]
    assert places == sorted(places)


# Rows that cannot be read.


def test_rows_that_cannot_be_read_are_counted_and_the_others_checked(files):
    path = files(
        "run", b"q1 Q0 a 1 0.9 t\nq1 Q0 b\nq1 Q0 c 2 x t\n\nq1 Q0 \xff 3 0.5 t\nq1 Q0 a 4 0.1 t\n"
    )
    unread = found("unreadable-row", run=path)
    assert (unread.count, unread.input, unread.place) == (3, "mine", f"{path}:2")
    assert "expected 6 fields" in unread.example
    again = found("duplicate-document", run=path)
    assert (again.place, again.query, again.doc) == (f"{path}:6", "q1", "a")
    assert found("unreadable-row", run=files("good", trec(RUN))) is None


@pytest.mark.parametrize(
    ("name", "line", "content"),
    [
        ("j.csv", 4, 'query,doc,grade\nq1,a,1\n\nq1,"b\nc",\nq1,d,2\nq1,e,high\n'),
        ("j.jsonl", 3, '{"query": "q1", "doc": "a", "grade": 1}\n\n{"query": "q1"}\n{"query": "q1", "doc": "d", "grade": 2}\n[\n'),
    ],
)  # fmt: skip
def test_rows_of_other_texts(files, name, line, content):
    path = files(name, content)
    unread = found("unreadable-row", path, None)
    assert (unread.count, unread.input) == (2, "judgments")
    assert unread.place == f"{path}:{line}"
    assert "2 grades: 1 (1), 2 (1)" in found("grades", path, None).message


def test_nothing_but_rows_that_cannot_be_read(files):
    findings = check(files("qrels", "q1 0 a\nq2 0\n"))
    assert [(each.rule, each.count) for each in findings if each.input == "judgments"] == [
        ("unreadable-row", 2)
    ]


def test_numbers_that_are_not_finite(files):
    for text in ("nan", "inf", "-inf"):
        run = trec(RUN).replace("0.8", text).replace("0.5", text)
        bad = found("not-finite", run=files("run", run))
        assert (bad.count, bad.place) == (2, f"{files('run', run)}:2")
    both = files("run", trec(RUN).replace("0.8", "nan") + "q1\n")
    assert found("not-finite", run=both).place == f"{both}:2"
    assert found("unreadable-row", run=both).place == f"{both}:6"
    given = found("not-finite", {"q1": {"a": 1, "b": math.nan, "c": math.inf}})
    assert (given.count, given.place) == (2, "query 'q1', document 'b'")
    assert found("not-finite") is None


def test_missing_values_of_frames():
    frame = pd.DataFrame(
        {"query": ["q1", None, "q1"], "doc": ["a", "b", "c"], "score": [1, 2, None]}
    )
    unread, bad = found("unreadable-row", run=frame), found("not-finite", run=frame)
    assert (unread.count, unread.place) == (1, "run, row 2")
    assert (bad.count, bad.place) == (1, "query 'q1', document 'c'")
    assert bad.example in ("the score is missing", "the score is nan")


def test_ids_and_numbers_of_dicts_that_are_none():
    judgments = {"q1": {"a": 1, 2.5: 1, "\ud800": 1, "b": "high", "c": None, "d": 2**53 + 1}}
    assert found("unreadable-row", judgments).count == 5
    assert found("unreadable-row", {1: {2: 3}}, None) is None


# Documents twice, and queries that retrieve themselves.


def test_documents_twice(files):
    path = files("qrels", qrels(JUDGMENTS) + "q1 0 b 1\nq1 0 a 0\nq1 0 a 3\n")
    again = found("duplicate-document", path)
    assert (again.count, again.place, again.doc) == (2, f"{path}:6", "b")
    assert "1 of them with different grades" in again.message
    same = found("duplicate-document", files("same", qrels(JUDGMENTS) + "q1 0 b 1\n"))
    assert "different" not in same.message
    assert found("duplicate-document", {"q1": {"1": 1, 1: 2}}).doc == "1"
    run = files("run", trec(RUN) + trec(RUN))
    assert found("duplicate-document", run=run).count == 5
    assert found("duplicate-document", run=run).place == f"{run}:6"
    assert found("duplicate-document", files("good", qrels(JUDGMENTS))) is None


def test_queries_that_retrieve_themselves(files):
    path = files("run", trec({"q1": {"a": 2, "q1": 1}, "q2": {"q2": 2, "q1": 1}}))
    own = found("self-match", run=path)
    assert (own.count, own.place, own.query, own.doc) == (2, f"{path}:2", "q1", "q1")
    assert found("self-match", {"q": {"q": 1}}, None).input == "judgments"
    assert found("self-match", {"q": {"p": 1}, "p": {"q": 1}}, None) is None


# Grades.


def test_grades_outside_the_scale(files):
    path = files("qrels", qrels({"q1": {"a": 3, "b": 4}, "q2": {"c": -1}}))
    off = found("grade-off-scale", path, scale=(0, 3))
    assert (off.count, off.place, off.example) == (2, f"{path}:2", "4")
    assert found("grade-off-scale", path, scale=(-1, 4)) is None
    assert found("grade-off-scale", path) is None


def test_the_grades_that_occur():
    note = found("grades")
    assert (note.count, note.message) == (3, "3 grades: 0 (2), 1 (2), 3 (1)")
    assert found("grades", scale=(0, 3)) is None
    many = {"q": {str(grade): grade for grade in range(100)}}
    assert found("grades", many, None).message.endswith(
        "5 (1), …, 94 (1), 95 (1), 96 (1), 97 (1), 98 (1), 99 (1)"
    )


def test_grades_that_are_no_whole_numbers(files):
    path = files("qrels", "q 0 a 1.0\nq 0 b 0.5\nq 0 c 1e-3\n")
    note = found("fractional-grade", path, None)
    assert (note.count, note.place, note.example) == (2, f"{path}:2", "0.5")
    assert found("fractional-grade") is None


def test_queries_without_relevant_documents(files):
    path = files("qrels", "q1 0 a 1\nq2 0 b 0\nq2 0 c -1\nq3 0 d 0\n")
    none = found("no-relevant-document", path)
    assert (none.count, none.place, none.query) == (2, f"{path}:2", "q2")
    assert found("no-relevant-document") is None


# Scores.


def test_ranks_that_contradict_the_scores(files):
    path = files(
        "run", "q1 Q0 a 1 5 t\nq2 Q0 d 2 1 t\nq2 Q0 e 1 2 t\nq1 Q0 b 2 6 t\nq1 Q0 c 3 7 t\n"
    )
    wrong = found("rank-against-score", run=path)
    assert (wrong.count, wrong.place, wrong.doc) == (1, f"{path}:4", "b")
    assert wrong.example == "score 6.0 at rank 2, after 5.0 at rank 1"
    # Two documents may share a rank, ties have no order, and what is no number is no rank.
    for good in (
        trec(RUN),
        "q1 Q0 a 1 5 t\nq1 Q0 b 1 6 t\nq1 Q0 c 2 5 t\n",
        "q1 Q0 a 0 5 t\nq1 Q0 b 1 5 t\n",
        "q1 Q0 a - 5 t\nq1 Q0 b - 6 t\n",
        "q1 Q0 b 2 4 t\nq2 Q0 d 1 9 t\nq1 Q0 a 1 5 t\n",
    ):
        assert found("rank-against-score", run=files("good", good)) is None
    table = files("run.csv", 'query,doc,score,rank\n\nq1,a,5,2\nq1,"b",6,3\n')
    assert found("rank-against-score", run=table).place == f"{table}:4"
    frame = pd.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "score": [1, 2], "rank": [1, 2]})
    assert found("rank-against-score", run=frame).place == "query 'q', document 'b'"
    broken = files("run", path.read_text() + "q1\n")
    assert found("rank-against-score", run=broken).count == 1


def test_constant_scores(files):
    path = files("run", trec({"q1": {"a": 2, "b": 1}, "q2": {"d": 1, "e": 1}, "q3": {"a": 1}}))
    constant = found("constant-score", run=path)
    assert (constant.count, constant.place, constant.query) == (1, f"{path}:3", "q2")
    assert found("constant-score", run={"q1": {"a": 1}, "q2": {"d": -0.0, "e": 0.0}}).count == 1
    assert found("constant-score") is None


def test_ties_across_the_cutoff(files):
    run = {"q1": {"a": 3, "b": 2, "c": 2}, "q2": {"d": 2, "e": 2, "f": 1}}
    path = files("run", trec(run))
    tie = found("tie-at-cutoff", run=path, cutoff=2)
    assert (tie.count, tie.place, tie.query, tie.doc) == (1, f"{path}:2", "q1", "b")
    assert tie.example == "score 2.0 at ranks 2 and 3"
    assert found("tie-at-cutoff", run=path, cutoff=1).query == "q2"
    assert found("tie-at-cutoff", run=path, cutoff=3) is None


def test_lists_shorter_than_the_cutoff(files):
    path = files("run", trec(RUN))
    short = found("short-list", run=path, cutoff=3)
    assert (short.count, short.place, short.example) == (1, f"{path}:4", "2 documents")
    assert found("short-list", run=path, cutoff=2) is None


# Judgments and run together.


def test_no_query_in_common():
    findings = check(run={"Q1": {"a": 1}, "Q2": {"d": 1}}, scale=(0, 3), cutoff=1)
    (none,) = findings
    assert (none.rule, none.severity, none.count) == ("no-shared-queries", "error", 2)
    assert "case-insensitively" in none.message
    assert "judgments have 'q1', 'q2'; the run has 'Q1', 'Q2'" in none.example
    assert found("no-shared-queries") is None


@pytest.mark.parametrize(
    ("known", "other"),
    [("q2", "Q2"), ("07", "7"), ("7", "7.0"), ("x y", " x y "), ("Q07", "q07.0")],
)
def test_ids_of_another_spelling(known, other):
    judgments = {"q1": {"a": 1}, known: {known: 1, "b": 0}}
    query = found("query-spelling", judgments, {"q1": {"a": 1}, other: {"b": 1}})
    assert (query.count, query.query) == (1, other)
    assert f"judged as {known!r}" in query.example
    doc = found("document-spelling", judgments, {"q1": {"a": 1}, known: {other: 1, "b": 0.5}})
    assert (doc.count, doc.query, doc.doc) == (1, known, other)
    assert f"judged as {known!r}" in doc.example


def test_ids_that_are_not_spellings_of_one():
    judgments = {"q1": {"web-1": 1, "a": 1}, "topic-2": {"b": 1}}
    run = {"q1": {"news-1": 2, "a": 1}, "title-2": {"b": 1}}
    assert found("query-spelling", judgments, run) is None
    assert found("document-spelling", judgments, run) is None
    # Where a side has both spellings, they are two documents.
    both = {"q1": {"a": 1, "A": 0, "b": 1}}
    assert found("document-spelling", both, {"q1": {"A": 1, "b": 0.5}}) is None
    assert (
        found(
            "document-spelling", {"q1": {"A": 1, "b": 1}}, {"q1": {"a": 2, "b": 1}, "q2": {"A": 1}}
        )
        is None
    )
    # And in another query it is no help.
    apart = {"q1": {"a": 1, "x": 1}, "q2": {"b": 1}}
    assert found("document-spelling", apart, {"q1": {"x": 1}, "q2": {"A": 1, "b": 0.5}}) is None


def test_no_document_in_common(files):
    path = files("run", trec({"q9": {"a": 9}, "q1": {"A": 1, "B": 0.5}}))
    none = found("no-shared-documents", run=path)
    assert (none.severity, none.count, none.place) == ("warning", 2, f"{path}:2")
    assert "case-insensitively" in none.message
    rules = [each.rule for each in check(run=path)]
    assert "document-spelling" not in rules
    assert "mostly-unjudged" not in rules
    assert found("no-shared-documents") is None


def test_missing_and_extra_queries(files):
    path = files("run", trec({"q8": {"x": 1}, "q1": RUN["q1"], "q9": {"x": 1}}))
    missing, extra = found("missing-query", run=path), found("extra-query", run=path)
    assert (missing.severity, missing.count, missing.place) == ("warning", 1, "query 'q2'")
    assert (extra.severity, extra.count, extra.place) == ("note", 2, f"{path}:1")
    assert extra.example == "the other is 'q9'"
    assert found("missing-query") is None
    assert found("extra-query") is None


def test_mostly_unjudged_documents():
    run = {"q1": {"x": 9, "a": 8, "y": 1}, "q2": {"d": 5, "z": 4}, "q9": {"u": 1, "v": 1}}
    assert found("mostly-unjudged", run=run, cutoff=2) is None  # one half is not more than that
    most = found("mostly-unjudged", run=run, cutoff=3)
    assert (most.count, most.query, most.doc) == (3, "q1", "x")
    assert most.message == "60.0% of 5 documents down to rank 3 are unjudged"
    # Tied documents stand by their id, descending, as a measure sees them.
    tied = {"q1": {"a": 1, "x": 1}, "q2": {"d": 1}}
    assert found("mostly-unjudged", {"q1": {"a": 1}, "q2": {"e": 1}}, tied, cutoff=1).count == 2
    assert found("mostly-unjudged", {"q1": {"x": 1}, "q2": {"d": 1}}, tied, cutoff=1) is None


# Every kind of input.


def frame_of(documents, number):
    rows = [(q, d, float(n)) for q, docs in documents.items() for d, n in docs.items()]
    return pd.DataFrame(rows, columns=["query", "doc", number])


FLAWED = (
    {"q1": {"a": 3, "b": 7.5}, "q2": {"q2": 0}, "q3": {"c": 1}},
    {"q1": {"B": 0.9, "a": 0.9, "x": 0.9}, "Q2": {"d": 0.1}, "q3": {"y": 2, "c": 1}},
)


def test_the_same_findings_for_every_kind_of_input(files, tmp_path):
    def seen(judgments, run):
        return [
            (each.rule, each.input, each.count, each.message, each.query, each.doc, each.example)
            for each in check(judgments, run, scale=(0, 3))
        ]

    expected = seen(*FLAWED)
    assert len(expected) >= 9
    frames = frame_of(FLAWED[0], "grade"), frame_of(FLAWED[1], "score")
    assert seen(*frames) == expected
    assert seen(*map(pl.from_pandas, frames)) == expected
    assert seen(*map(pa.Table.from_pandas, frames)) == expected
    paths = tmp_path / "j.parquet", tmp_path / "r.parquet"
    for frame, path in zip(frames, paths, strict=True):
        pq.write_table(pa.Table.from_pandas(frame), path)
    parquet = seen(*paths)
    assert [each[:4] for each in parquet] == [each[:4] for each in expected]
    for ending, written in (
        ("csv", [frame.to_csv(index=False) for frame in frames]),
        ("jsonl", [frame.to_json(orient="records", lines=True) for frame in frames]),
        ("json", [frame.to_json(orient="records") for frame in frames]),
    ):
        pair = [files(f"{name}.{ending}", text) for name, text in zip("jr", written, strict=True)]
        assert seen(*pair) == expected, ending
    pair = files("j", qrels(FLAWED[0])), files("r", trec(FLAWED[1]))
    assert seen(*pair) == expected
    ragged = [
        files(path.name + "2", path.read_text().replace(" ", "\t  ").replace("\n", " \n\n"))
        for path in pair
    ]
    assert seen(*ragged) == expected
    assert seen(FLAWED[0], pair[1]) == expected


def test_the_same_findings_row_by_row(files, monkeypatch):
    monkeypatch.setattr(table_source, "_BATCH", 2)
    pair = files("j", qrels(FLAWED[0])), files("r", trec(FLAWED[1]))
    broken = [files(path.name + "x", path.read_text() + "broken\n") for path in pair]
    expected = list(check(*pair))
    names = {str(path): str(other) for path, other in zip(pair, broken, strict=True)}
    found = [each for each in check(*broken) if each.rule != "unreadable-row"]
    assert len(expected) == len(found)
    for one, other in zip(expected, found, strict=True):
        path, colon, line = one.place.partition(":")
        assert other.place == f"{names.get(path, path)}{colon}{line}"
        assert (one.rule, one.count, one.example) == (other.rule, other.count, other.example)


def test_places_in_texts_with_blank_lines_and_line_breaks(files):
    path = files("j.csv", 'query,doc,grade\n\nq1,"a\nb",1\n\nq1,c,9\n')
    assert found("grade-off-scale", path, None, scale=(0, 3)).place == f"{path}:6"
    path = files("j", "\n\nq1 0 a 1\n\n  q1   0 b 9\n")
    assert found("grade-off-scale", path, None, scale=(0, 3)).place == f"{path}:5"
    path = files(
        "j.jsonl",
        '{"query": "q", "doc": "a", "grade": 1}\n\n{"query": "q", "doc": "b", "grade": 9}\n',
    )
    assert found("grade-off-scale", path, None, scale=(0, 3)).place == f"{path}:3"


def test_scattered_labels(files):
    labels = files("labels", "3 qid:1 1:1\n0 qid:2 1:1\n1 qid:1 1:1\n")
    scores = files("scores", "9\n8\n7.5\n")
    told = "rows of query '1' are not contiguous"
    with pytest.warns(gf.errors.GainfulWarning, match=told):
        gf.evaluate(labels, scores, "nDCG")
    for run in (None, {"m": scores}):
        (finding,) = (each for each in gf.check(labels, run) if each.rule == "doubtful-reading")
        assert told in finding.message


def test_no_advice_to_retrieve_more_documents_for_labels(files):
    labels, scores = files("labels", "3 qid:1 1:1\n0 qid:1 1:1\n"), files("scores", "9\n8.5\n")
    (finding,) = (each for each in gf.check(labels, {"m": scores}) if each.rule == "short-list")
    assert "all the candidates" in finding.remedy


def test_labels_and_predictions(files):
    labels = files("labels", "3 qid:1 1:1\n0 qid:1 1:1\n9 qid:1\n0 qid:2 1:1\n0 qid:2 1:1\n")
    scores = files("scores", "3\n2\n2\n1\n1\n")
    assert [(each.rule, each.count) for each in check(labels, scores, scale=(0, 3))] == [
        ("grade-off-scale", 1),
        ("no-relevant-document", 1),
        ("constant-score", 1),
        ("tie-at-cutoff", 1),
    ]
    off = found("grade-off-scale", labels, scores, scale=(0, 3))
    assert off.place == "query '1', document 'row 3'"
    for judgments, run in ((labels, RUN), (JUDGMENTS, scores), (labels, labels), (scores, scores)):
        with pytest.raises(gf.errors.InputError):
            check(judgments, run)
    with pytest.raises(gf.errors.InputError, match="a prediction for each of the 5 labels"):
        check(labels, files("few", "1\n2\n"))


def test_what_cannot_be_read_at_all(files, tmp_path):
    for path in (tmp_path / "none", tmp_path, files("binary", b"\x00\x01\xff"), files("empty", "")):
        with pytest.raises(gf.errors.InputError):
            check(path)
        with pytest.raises(gf.errors.InputError):
            check(run=path)
    for nothing in (
        {},
        pd.DataFrame({"query": [], "doc": [], "score": []}, dtype=str).astype({"score": float}),
    ):
        with pytest.raises(gf.errors.InputError, match="at least one retrieved document"):
            check(run=nothing)
    with pytest.raises(gf.errors.InputError, match="memory"):
        check(engine=gf.Engine(memory="a lot"))


@pytest.mark.parametrize(
    "options",
    [
        {"cutoff": 0}, {"cutoff": 2.0}, {"cutoff": True}, {"cutoff": 10**9},
        {"scale": 3}, {"scale": (3, 0)}, {"scale": (0, math.nan)}, {"scale": "03"},
        {"columns": {"quarry": "x"}}, {"run": 7},
    ],
)  # fmt: skip
def test_arguments_that_are_none(options):
    with pytest.raises(gf.errors.InputError):
        check(**options)


def test_runs_are_named(files):
    with pytest.raises(gf.errors.InputError, match=r"a dict \{name: run\}"):
        gf.check(JUDGMENTS, [RUN])
    assert gf.check(JUDGMENTS, str(files("mine.run", trec(RUN)))).inputs == ("judgments", "mine")
    findings = gf.check(JUDGMENTS, {"one": RUN, "two": {"q1": RUN["q1"]}}, cutoff=2)
    assert findings.inputs == ("judgments", "one", "two")
    assert [each.input for each in findings if each.rule == "missing-query"] == ["two"]


def test_columns_are_named(files):
    path = files("j.csv", "who,what,worth\nq1,a,1\n")
    columns = {"query": "who", "doc": "what", "grade": "worth"}
    assert found("grades", path, None, columns=columns).count == 1


def test_findings_are_a_sequence_and_export(files):
    findings = check(run={"q1": {"a": 1, "b": 1}})
    assert findings[0] in list(findings)
    assert findings[:1] == (findings[0],)
    assert findings.counts == {"error": 0, "warning": 2, "note": 1}
    plain = findings.to_dict()
    assert plain["counts"] == findings.counts
    assert len(plain["findings"]) == len(findings)
    assert plain["findings"][0]["rule"] == findings[0].rule
    assert "missing-query" in findings._repr_html_()
    assert repr(findings) == "Findings(0 errors, 2 warnings, 1 note in judgments, mine)"
    for name in gf.writing.formats():
        assert "missing-query" in gf.writing.render(findings, name).replace("\\", "")


def test_nothing_that_was_passed_is_changed():
    judgments, run = {"q1": {"a": 1}}, {"q1": {"a": 1, "b": 2}}
    check(judgments, run)
    assert (judgments, run) == ({"q1": {"a": 1}}, {"q1": {"a": 1, "b": 2}})


def test_empty_lists_are_answers_as_in_evaluate():
    judgments = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}, "q4": {}}
    run = {"q1": {"a": 1.0}, "q2": {}, "q4": {"x": 1.0}, "q5": {}}
    found = {each.rule: each for each in gf.check(judgments, {"mine": run}, cutoff=1)}
    counts = {rule: each.count for rule, each in found.items() if rule != "grades"}
    assert counts == {
        "empty-list": 1,
        "missing-query": 1,
        "extra-query": 1,
        "no-relevant-document": 1,
    }
    assert (found["empty-list"].query, found["missing-query"].query) == ("q2", "q3")
    assert (found["no-relevant-document"].query, found["extra-query"].query) == ("q4", "q5")
    coverage = gf.evaluate(judgments, run, "RR").coverage
    assert (coverage.missing, coverage.empty, coverage.extra) == (("q3",), ("q4",), ("q5",))


HOLED = {"q1": ["d1"], "q2": ["d4"], "q3": ["d5"], "q4": []}
ANSWERED = {"q1": ["d1", "d2"], "q2": [], "q4": ["d1"], "q5": []}


def records(lists, name):
    return [{"query": query, name: docs} for query, docs in lists.items()]


@pytest.mark.parametrize("chunks", [None, "#"])
@pytest.mark.parametrize("form", ["lists", "dicts", "records", "frames"])
def test_inputs_with_empty_lists_keep_their_names(form, chunks):
    judgments, run = HOLED, ANSWERED
    if form == "dicts":
        judgments = {query: dict.fromkeys(docs, 1) for query, docs in HOLED.items()}
        run = {
            query: {doc: -place for place, doc in enumerate(docs)} for query, docs in run.items()
        }
    elif form != "lists":
        judgments, run = records(HOLED, "relevant"), records(ANSWERED, "retrieved")
        if form == "frames":
            judgments, run = pd.DataFrame(judgments), pd.DataFrame(run)
    findings = gf.check(judgments, {"er": run}, chunks=chunks)
    assert [(each.rule, each.input) for each in findings] == [
        ("no-relevant-document", "judgments"),
        ("missing-query", "er"),
        ("empty-list", "er"),
        ("mostly-unjudged", "er"),
        ("grades", "judgments"),
        ("extra-query", "er"),
        ("short-list", "er"),
    ]
    assert [each.place for each in findings if each.query is None] == ["judgments"]


def test_lists_that_are_all_empty_but_one_share_no_document_to_speak_of():
    found = gf.check({"q1": {"a": 1}}, {"mine": {"q1": {}, "q2": {"b": 1.0}}}, cutoff=1)
    assert {each.rule for each in found} == {"grades", "empty-list", "extra-query"}


@pytest.mark.parametrize(
    ("run", "columns", "message"),
    [
        (
            {"q1": ["a", "b", "a", "b"], "q2": ["d", "e"]},
            None,
            "document 'a' of query 'q1' is repeated in its list, and 1 more; the first occurrence counts",
        ),
        (
            {"q1": [("a", 0.1), ("b", 0.2)], "q2": [("d", 0.3), ("e", 0.4)]},
            None,
            "the scores rise along every list, as distances do",
        ),
        (
            pd.DataFrame({"query": ["q1", "q2"], "doc": ["a", "d"], "dist": [0.5, 0.25]}),
            {"score": "dist"},
            "'dist' is read as scores",
        ),
    ],
    ids=["again", "rising", "distance"],
)
def test_what_evaluate_warns_of_when_it_reads_a_run_is_found(run, columns, message):
    told = found("doubtful-reading", JUDGMENTS, run, columns=columns)  # warnings are errors
    assert (told.input, told.count) == ("mine", 1)
    assert told.message.startswith(message)
    with pytest.warns(gf.errors.GainfulWarning) as seen:
        gf.evaluate(JUDGMENTS, run, "RR", columns=columns)
    assert [str(each.message) for each in seen] == [f"run: {told.message}."]


def test_what_evaluate_warns_of_when_it_reads_judgments_is_found(tmp_path):
    path = tmp_path / "ev.csv"
    path.write_text("query,doc,event\nq1,a,click\nq2,d,purchase\n")
    for given in (path, pd.read_csv(path)):
        findings = check(given)
        (told,) = (each for each in findings if each.rule == "doubtful-reading")
        assert told.input == "judgments"
        assert told.message.startswith("each row counts as grade 1, and the column")
        assert not findings.clean
    assert "doubtful-reading" not in {each.rule for each in check(path, columns={"grade": None})}
    (again,) = (each for each in check({"q1": ["a", "a"]}, None) if each.rule != "grades")
    assert (again.rule, again.input) == ("doubtful-reading", "judgments")


CHUNKS = {"q1": {"a#1": 0.9, "a#2": 0.9, "b#1": 0.5, "c#7": 0.5}, "q2": {"q2#1": 3.0, "q2#2": 2.0}}
CHUNK_MAP = {chunk: chunk.partition("#")[0] for docs in CHUNKS.values() for chunk in docs}


@pytest.mark.parametrize("chunks", ["#", CHUNK_MAP, CHUNK_MAP.get], ids=["mark", "map", "function"])
@pytest.mark.parametrize("form", ["dict", "csv"])
def test_chunks_are_looked_at_as_documents(chunks, form, tmp_path):
    run, judgments = CHUNKS, {"q1": {"a": 1, "b": 1}, "q2": {"b": 1}}
    if form == "csv":
        lines = [f"{query},{doc},{number}" for query, docs in CHUNKS.items() for doc, number in docs.items()]  # fmt: skip
        run = tmp_path / "run.csv"
        run.write_text("\n".join(["query,doc,score", *lines]))
    found = {each.rule: each for each in gf.check(judgments, {"r": run}, cutoff=2, chunks=chunks)}
    rules = {"grades", "tie-at-cutoff", "self-match", "short-list", "mostly-unjudged"}
    assert found.keys() == rules
    assert found["self-match"].doc == found["short-list"].query == "q2"
    folded = {"q1": {"a": 0.9, "b": 0.5, "c": 0.5}, "q2": {"q2": 3.0}}
    alike = gf.check(judgments, {"r": folded}, cutoff=2)
    assert {each.rule: each.count for each in alike} == {rule: found[rule].count for rule in found}


def test_a_chunk_that_comes_twice_is_found_and_one_without_a_document_is_refused(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,doc,score\nq1,a#1,2\nq1,a#1,1\nq1,b#1,1\n")
    judgments = {"q1": {"a": 1, "b": 1}}
    found = {each.rule: each for each in gf.check(judgments, [path], cutoff=2, chunks="#")}
    assert found.keys() == {"grades", "duplicate-document"}
    assert found["duplicate-document"].doc == "a#1"
    for call in (gf.check, gf.evaluate_runs):
        with pytest.raises(gf.errors.InputError, match=r"a document for every chunk .* 'b#1'"):
            call(judgments, {"r": {"q1": {"a#1": 1.0, "b#1": 0.5}}}, chunks={"a#1": "a"})


def test_chunks_on_the_command_line(cli, tmp_path):
    run, qrels, known = (tmp_path / name for name in ("c.run", "c.qrels", "map.tsv"))
    run.write_text("q1 Q0 a#1 1 0.9 t\nq1 Q0 a#2 2 0.8 t\nq1 Q0 b#1 3 0.7 t\n")
    qrels.write_text("q1 0 a 1\nq1 0 b 1\n")
    known.write_text("a#1\ta\na#2\ta\nb#1\tb\n")
    assert "no-shared-documents" in cli("check", qrels, run, "-k", 2).stdout
    for how in (("--chunks", "#"), ("--chunk-map", known)):
        done = cli("check", qrels, run, "-k", 2, "--strict", *how)
        assert done.returncode == 0, done.stdout
        assert done.stdout.splitlines()[-1] == "clean: 0 errors, 0 warnings, 1 note in judgments, c"


def test_a_run_in_the_place_of_the_judgments_is_found(tmp_path):
    runs = {}
    for name in ("old", "new", "newer"):
        lines = [f"q{place % 3},d{place},{99.5 - place / 4}" for place in range(30)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["query,doc,score", *lines]))
        runs[name] = tmp_path / f"{name}.csv"
    judgments = runs.pop("old")
    (told,) = (each for each in gf.check(judgments, runs) if each.rule == "run-as-judgments")
    assert told.message.endswith("this looks like two runs without judgments")
    assert (told.input, told.severity) == ("judgments", "warning")
    assert told.remedy.endswith("If they are grades, name their column: columns grade=score.")
    said = gf.check(judgments, runs, columns={"grade": "score"})
    assert "run-as-judgments" not in {each.rule for each in said}


def test_ideals_of_very_different_sizes():
    """Ideals of 9 × 1 and 3 × 10 are as good as 39² / 309 = 4.9 equal ones, less than half of 12."""
    uneven = {f"q{number}": {"a": 1 if number < 9 else 10} for number in range(12)}
    (finding,) = [each for each in gf.check(uneven) if each.rule == "uneven-ideals"]
    assert (finding.severity, finding.count, finding.query) == ("note", 12, "q9")
    assert "ranges from 1 to 10" in finding.message
    assert "about 5 of them" in finding.message
    for even in (
        {query: {"a": 2} for query in uneven},
        {query: grades for query, grades in uneven.items() if query > "q3" or query[2:]},
    ):
        assert "uneven-ideals" not in {each.rule for each in gf.check(even)}
