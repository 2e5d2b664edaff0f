"""Every column of a side table that can be named is honoured, or rejected with its name."""

import pandas as pd
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUN = {"q1": {"a": 1.0, "b": 0.5}, "q2": {"b": 1.0}}
RIVAL = {"q1": {"b": 1.0}, "q2": {"b": 1.0}}
ASSESSED = [("q1", "a", "ann", 1), ("q1", "b", "ann", 0), ("q2", "b", "ann", 1)]
TABLES = {
    "slices": pd.DataFrame({"nr": ["q1", "q2"], "locale": ["de", "en"]}),
    "items": pd.DataFrame({"nr": ["a", "b"], "genre": ["x", "y"]}),
    "vectors": pd.DataFrame({"nr": ["a", "b"], "x": [1.0, 0.0], "y": [0.0, 1.0]}),
    "history": pd.DataFrame({"who": ["u", "u"], "nr": ["a", "b"], "many": [1, 2]}),
    "assessed": pd.DataFrame(ASSESSED, columns=["who", "nr", "judged_by", "much"]),
    "subtopics": pd.DataFrame(
        [("q1", "s1", "a", 1), ("q2", "s1", "b", 1)], columns=["who", "aspect", "nr", "much"]
    ),
}


def recommend(**tables):
    columns = tables.pop("columns")
    return gf.recommending.evaluate_recommendations(RUN, "Coverage@2", columns=columns, **tables)


def assessed(given, columns):
    return gf.evaluate(given, RUN, "nDCG", columns=columns, assessors="mean")


# The call, the columns of the table by the keys that name them, and the table.
NAMED = {
    "evaluate": (
        lambda table, columns: gf.evaluate(JUDGMENTS, RUN, "nDCG", slices=table, columns=columns),
        {"slices.query": "nr"}, "slices",
    ),
    "evaluate_runs": (
        lambda table, columns: gf.evaluate_runs(JUDGMENTS, {"one": RUN}, "nDCG", slices=table, columns=columns),
        {"slices.query": "nr"}, "slices",
    ),
    "compare": (
        lambda table, columns: gf.compare(
            JUDGMENTS, {"one": RUN, "two": RIVAL}, "nDCG", slices=table, columns=columns
        ),
        {"slices.query": "nr"}, "slices",
    ),
    "report": (
        lambda table, columns: gf.report(
            JUDGMENTS, {"one": RUN, "two": RIVAL}, "nDCG", slices=table, columns=columns
        ),
        {"slices.query": "nr"}, "slices",
    ),
    "items": (lambda table, columns: recommend(items=table, columns=columns), {"items.doc": "nr"}, "items"),
    "vectors": (
        lambda table, columns: recommend(items=["a", "b"], vectors=table, columns=columns),
        {"vectors.doc": "nr"}, "vectors",
    ),
    "history": (
        lambda table, columns: recommend(history=table, columns=columns),
        {"history.query": "who", "history.doc": "nr", "history.count": "many"}, "history",
    ),
    "assessors": (
        assessed,
        {
            "judgments.query": "who", "judgments.doc": "nr", "judgments.assessor": "judged_by",
            "judgments.grade": "much",
        },
        "assessed",
    ),
    "subtopics": (
        lambda table, columns: gf.subtopics.evaluate_subtopics(table, RUN, "strec@2", columns=columns),
        {
            "judgments.query": "who", "judgments.subtopic": "aspect", "judgments.doc": "nr",
            "judgments.grade": "much",
        },
        "subtopics",
    ),
}  # fmt: skip
BY_FILE = ("csv", "tsv", "jsonl", "parquet")


def forms(frame, folder):
    """The table as a frame, and as a file of every format."""
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_csv(folder / "table.tsv", index=False, sep="\t")
    frame.to_json(folder / "table.jsonl", orient="records", lines=True)
    frame.to_parquet(folder / "table.parquet")
    return [frame, frame.to_dict("records"), *(folder / f"table.{ending}" for ending in BY_FILE)]


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize("name", NAMED)
def test_names_are_honoured_or_rejected(name, tmp_path):
    call, columns, table = NAMED[name]
    given = forms(TABLES[table], tmp_path)
    for form in given:
        assert call(form, columns) is not None
    for role in columns:
        for form in given[:1] if name == "report" else given:
            with pytest.raises(gf.errors.InputError, match="the column '"):
                call(form, {**columns, role: "not there"})


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(
    "key", ["slices.locale", "docs.doc", "queries.text", "chunks.chunk", "slice.query"]
)
def test_other_keys_are_rejected(name, key):
    call, columns, table = NAMED[name]
    with pytest.raises(gf.errors.InputError, match=f"expected a key, found '{key}'"):
        call(TABLES[table], {**columns, key: "nr"})


@pytest.mark.parametrize("name", ["evaluate", "evaluate_runs", "compare", "report"])
def test_a_name_for_slices_that_have_no_columns_or_are_not_given(name):
    call, columns, _ = NAMED[name]
    for slices in ({"q1": {"locale": "de"}, "q2": {"locale": "en"}}, None):
        with pytest.raises(gf.errors.InputError, match=r"slices\.query"):
            call(slices, columns)


def test_commands(cli, files, tmp_path):
    judgments = files("judgments.qrels", "q1 0 a 1\nq2 0 b 1\n")
    one, two = (files(f"{name}.run", "q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\n") for name in ("one", "two"))
    slices = files("slices.csv", "nr,locale\nq1,de\nq2,en\n")
    for words in (
        ("evaluate", judgments, one), ("compare", judgments, one, two),
        ("report", judgments, one, two, "-o", tmp_path / "page.html"),
    ):  # fmt: skip
        words = (*words, "--slices", slices)
        assert cli(*words, "--columns", "slices.query=nr").returncode == 0
        done = cli(*words)
        assert done.returncode == 2
        assert "columns slices.query=…" in done.stderr
        for wrong in ("slices.query=topic", "slices.topic=nr"):
            done = cli(*words, "--columns", wrong)
            assert done.returncode == 2
            assert "topic" in done.stderr
