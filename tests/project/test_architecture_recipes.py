"""The recipes of docs/develop/additions.md, followed: each addition is the entry that the page names."""

import json
import math
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.analysis.linting import rules
from gainful.analysis.linting.rules import Draft
from gainful.arithmetic.statistics.corrections import CORRECTIONS, Correction, JointTest
from gainful.arithmetic.statistics.paired_tests import TESTS, Outcome, PairedTest, by_column
from gainful.cli.commands import commands
from gainful.evaluation import measuring as table
from gainful.evaluation.computing.precision_and_counts import counted, hits, relevant_rows
from gainful.evaluation.gains_ranks_and_ideals import Arithmetic
from gainful.measures import dialect_catalogue, gain
from gainful.measures import measure as catalogued
from gainful.measures.discount import FORMS, Form
from gainful.measures.measure_family import Example, Family
from gainful.measures.parameters import REL
from gainful.measures.policy import Policy
from gainful.measures.tool_dialect import Dialect
from gainful.rows import mistakes, shapes, text_formats
from gainful.rows.grades_scores_or_ranks import JUDGMENTS as JUDGED
from gainful.rows.grades_scores_or_ranks import RUN as A_RUN
from gainful.rows.mistakes import MISTAKES, Rule, Slip
from gainful.rows.ranked_lists import ListReader
from gainful.rows.run_and_judgment_columns import ALIASES, Columns
from gainful.rows.shapes import SHAPES, Shape
from gainful.rows.side_table_columns import Role, Roles
from gainful.rows.side_table_reader import read_table
from gainful.rows.text_formats import Layout, TextFormat

JUDGMENTS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"a": 3}}
squared = gf.measures.define("squared", gain={2: 4})
RUN = {"q1": {"c": 3.0, "a": 2.0, "b": 1.0}, "q2": {"x": 2.0, "a": 1.0}}
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "develop" / "architecture.md"
ADDITIONS = PAGE.with_name("additions.md")


def scores(count, *, better=0.0, seed=1):
    values = np.random.default_rng(seed).random(count) + better
    return {f"q{at}": value for at, value in enumerate(values.tolist())}


TRACED = """
import sys
from gainful.cli.main import main

called, ran, importing = [], set(), 0

def see(frame, event, _):
    global importing
    code = frame.f_code
    if code.co_name == "<module>" and event in ("call", "return"):
        importing += 1 if event == "call" else -1
    if event == "call" and "/gainful/" in code.co_filename:
        called.append(code.co_filename.rpartition("/gainful/")[2] + " " + code.co_name)
        if not importing:
            ran.add(code.co_filename)

sys.setprofile(see)
try:
    main()
finally:
    sys.setprofile(None)
    print(*called, len(ran), sep="\\n", file=sys.stderr)
"""


def test_the_way_of_a_run_is_the_way_that_it_goes():
    """Each step of the page is called, for the first time, after the one before it."""
    steps = re.findall(r"^\d+\. `([\w/.]+)`, `(?:\w+\.)?(\w+)`:", PAGE.read_text(), re.MULTILINE)
    examples = ROOT / "examples" / "cooking"
    files = [str(examples / "judgments.qrels"), str(examples / "hybrid.run")]
    command = [sys.executable, "-c", TRACED, "evaluate", *files, "-m", "nDCG@10"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0.5875" in done.stdout
    called = done.stderr.splitlines()
    places = [called.index(f"{file} {function}") for file, function in steps]
    assert len(steps) == 20
    assert len({file for file, _ in steps}) == 19
    assert places == sorted(places)
    assert int(called[-1]) <= 42  # files whose functions are called, besides imports


@pytest.mark.parametrize(
    "place",
    [
        "`FAMILIES`",
        "`COMPUTE`",
        "an `Arithmetic` to `COMPUTE`",
        "`FORMS` in `measures/discount.py`",
        "`DIALECTS` in `measures/dialect_catalogue.py`",
        "`arithmetic/statistics/paired_tests.py` and a `PairedTest` in its `TESTS`",
        "`CORRECTIONS` in `arithmetic/statistics/corrections.py`",
        "`SHAPES` in `rows/shapes.py`",
        "`RULES` in `analysis/linting/rules.py`",
        "`MISTAKES` in `rows/mistakes.py`",
        "`FORMATS` in `rows/text_formats.py`",
        "the roles of its columns in `rows/side_table_columns.py`",
        "`CODES` in `errors.py`",
    ],
)
def test_the_page_names_the_places_that_are_used_here(place):
    assert place in " ".join(ADDITIONS.read_text().split())


@pytest.fixture
def squared_hits(monkeypatch):
    """A measure as the page says."""
    added = Family(
        name="SquaredHits",
        title="Squared hits",
        definition="SquaredHits@k = the square of the number of relevant documents down to k",
        range="0 and up",
        citation="none",
        example=Example("SquaredHits@2", (1, 0, 1), "1²", "1"),
        parameters=(REL,),
    )
    monkeypatch.setattr(catalogued, "CATALOGUE", (*catalogued.CATALOGUE, added))
    entry = Arithmetic(
        "relevant",
        "",
        terms=counted(relevant_rows),
        values=lambda sheet, parameters, cutoffs: hits(sheet, parameters, cutoffs) ** 2,
    )
    registered = table.registered([added], {added.name: entry})
    monkeypatch.setitem(table.COMPUTE, "SquaredHits", registered["SquaredHits"])
    return added


def test_a_measure_is_an_entry_of_the_catalogue_and_one_of_the_kernels(squared_hits):
    found = gf.evaluate(JUDGMENTS, RUN, ["squaredhits@2,3", "SquaredHits(rel=2)"])
    assert found.per_query.to_dict()["q1"] == {
        "SquaredHits@2": 1.0,
        "SquaredHits@3": 4.0,
        "SquaredHits(rel=2)": 1.0,
    }
    assert gf.measures.family("SquaredHits") in gf.measures.families()
    with pytest.raises(gf.errors.MeasureError, match="Did you mean 'SquaredHits'"):
        gf.measure("SquaredHit")


RUNS = {"one": RUN, "two": {"q1": {"a": 3.0, "c": 2.0, "b": 1.0}, "q2": {"a": 2.0, "x": 1.0}}}
MEASURE = "SquaredHits@2"
USES = {
    "attribute": lambda: gf.explanation.attribute(JUDGMENTS, *RUNS.values(), MEASURE, query="q1"),
    "bounds": lambda: gf.judging.bounds_of_runs(JUDGMENTS, RUNS, MEASURE, grades=(0, 1, 2, 3)),
    "compare": lambda: gf.compare(JUDGMENTS, RUNS, MEASURE),
    "curve": lambda: gf.curve(JUDGMENTS, RUN, MEASURE),
    "evaluate": lambda: gf.evaluate(JUDGMENTS, RUN, MEASURE, policy={"ties": "average"}),
    "explain": lambda: gf.explain(JUDGMENTS, RUN, MEASURE, query="q1"),
    "explain a formula": lambda: gf.explain(JUDGMENTS, RUN, f"nDCG - {MEASURE}", query="q1"),
    "explain grades": lambda: gf.explanation.explain_grades([0, 1, 2], MEASURE),
    "leaderboard": lambda: gf.leaderboard(JUDGMENTS, RUNS, MEASURE, resamples=99),
    "movers": lambda: gf.comparison.movers(gf.compare(JUDGMENTS, RUNS, MEASURE), JUDGMENTS, RUNS),
    "next_to_judge": lambda: gf.judging.next_to_judge(JUDGMENTS, RUNS, MEASURE),
    "pool_bias": lambda: gf.judging.pool_bias(JUDGMENTS, RUNS, MEASURE),
    "random_order": lambda: gf.judging.random_order(JUDGMENTS, RUN, MEASURE),
    "report": lambda: gf.report(JUDGMENTS, RUNS, MEASURE, resamples=99).payload(),
    "tune": lambda: gf.fusion.tune(JUDGMENTS, RUNS, MEASURE, k=[1, 60], folds=2),
    "which": lambda: gf.explanation.which(JUDGMENTS, RUN, MEASURE, got=1),
    "why": lambda: gf.why(JUDGMENTS, RUN, MEASURE, dialects="trec_eval-9"),
}
NOT_FOR_IT = ("attribute", "bounds", "random_order")  # which need formulas that they know


@pytest.mark.usefixtures("squared_hits")
@pytest.mark.parametrize("use", USES)
def test_every_function_takes_such_a_measure_or_says_why_not(use):
    if use in NOT_FOR_IT:
        with pytest.raises(gf.errors.GainfulError, match="SquaredHits@2"):
            USES[use]()
    else:
        assert "SquaredHits" in str(USES[use]()) or use == "movers"


@pytest.mark.usefixtures("squared_hits")
def test_a_measure_is_explained_by_the_terms_of_its_entry():
    found = gf.explain(JUDGMENTS, RUN, "SquaredHits@3", query="q1")
    assert found.value == 4.0
    [listed] = found.parts
    assert [(step.doc, step.gain) for step in listed.steps] == [("c", 0), ("a", 1), ("b", 1)]
    assert listed.columns == ("i", "doc", "grade", "relevant", "", "", "sum")
    for text in (str(found), found.to_markdown(), found.to_html()):
        assert "the square of the number of relevant documents down to k" in text
        assert "SquaredHits@3 = 4.000" in text


def test_a_measure_without_terms_cannot_be_registered(squared_hits):
    for entry in ({}, {"SquaredHits": hits}):
        with pytest.raises(gf.errors.MeasureError, match=r"SquaredHits: .*its terms for `explain`"):
            table.registered([squared_hits], entry)


def test_a_discount_is_one_entry(monkeypatch):
    import torch

    halved = Form("2^(1 − i)", lambda rank, _: 2.0 ** (1 - rank))
    monkeypatch.setitem(FORMS, "halved", halved)
    assert gf.dcg([1, 1, 1], discount="halved") == 1.75
    assert str(gf.measure("nDCG(discount=halved)@3")) == "nDCG(discount=halved)@3"
    found = gf.evaluate(JUDGMENTS, RUN, "DCG(discount=halved)@3")
    assert found.per_query.to_dict()["q1"]["DCG(discount=halved)@3"] == 1 / 2 + 2 / 4
    told = str(gf.explain(JUDGMENTS, RUN, "nDCG(discount=halved)", query="q1"))
    assert "discount halved: 2^(1 − i)" in told
    with pytest.raises(gf.errors.MeasureError, match=r"log, jarvelin, .* or halved"):
        gf.dcg([1], discount="halve")
    with pytest.raises(
        gf.errors.MeasureError, match="Only the discounts log, jarvelin and misprint have a base"
    ):
        gf.dcg([1], discount="halved", base=3)
    given = torch.tensor([[0.3, 0.1, 0.2]]), torch.tensor([[1.0, 2.0, 0.0]])
    measured = gf.metrics.ndcg(*given, gain="linear", discount="halved")
    assert float(measured[0]) == pytest.approx((1 + 2 / 4) / (2 + 1 / 2))
    lost = gf.losses.approx_ndcg(*given, gain="linear", discount="halved", temperature=1e-3)
    assert float(lost) == pytest.approx(1 - (1 + 2 / 4) / (2 + 1 / 2))
    got = gf.dcg([0, 2, 1], discount="halved")
    which = gf.explanation.which(
        {"q": {"b": 2, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "DCG", got=got
    )
    assert any("discount=halved" in each.change for each in which.found)


@pytest.mark.parametrize(
    ("form", "worth"),
    [
        (gain.Form("g², or so", lambda grade, _: grade**2), [1, 9, 4]),
        (gain.Form("g², or so", lambda grade, _: (grade - 2) ** 2, rises=False), [1, 1, 0]),
    ],
    ids=["rises", "falls"],
)
def test_a_gain_is_one_entry(monkeypatch, form, worth):
    import torch

    monkeypatch.setitem(gain.FORMS, "squared", form)
    grades = [1, 3, 2]
    discounts = [1 / math.log2(rank + 1) for rank in (1, 2, 3)]
    dcg = np.dot(worth, discounts)
    ndcg = dcg / np.dot(sorted(worth, reverse=True), discounts)
    assert gf.dcg(grades, gain="squared") == pytest.approx(dcg)
    assert gf.ndcg(grades, gain="squared") == pytest.approx(ndcg)
    measure = "nDCG(gain=squared)"
    assert str(gf.measure(measure)) == measure
    judged, run = {"q": {"a": 1, "b": 3, "c": 2}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert gf.evaluate(judged, run, measure)[measure] == pytest.approx(ndcg)
    assert "gain squared: g², or so" in str(gf.explain(judged, run, measure, query="q"))
    with pytest.raises(gf.errors.MeasureError, match=r"linear, exp2, binary, squared, a table .*"):
        gf.dcg([1], gain="square")
    with pytest.raises(gf.errors.MeasureError, match="the gain g², or so"):
        gf.measures.use(squared)
    which = gf.explanation.which(judged, run, "DCG", got=dcg)
    assert any("gain=squared" in each.change for each in which.found)
    if form.rises:
        gf.bounds(judged, run, measure, grades=(0, 3))
    else:
        with pytest.raises(gf.errors.InputError, match="need not rise with the grade"):
            gf.bounds(judged, run, measure, grades=(0, 3))
    tensors = torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[1.0, 3.0, 2.0]])
    assert float(gf.metrics.ndcg(*tensors, gain="squared")[0]) == pytest.approx(ndcg)
    loss = gf.losses.approx_ndcg(*tensors, gain="squared", temperature=1e-3)
    assert float(loss) == pytest.approx(1 - ndcg, abs=1e-6)

    def by_function(grade):
        return form.formula(grade, None)

    for other in (gf.losses.lambda_loss, gf.losses.neural_ndcg):
        loss = other(*tensors, gain="squared")
        assert float(loss) == pytest.approx(float(other(*tensors, gain=by_function)))


def test_a_dialect_is_one_entry(monkeypatch):
    added = Dialect(
        "halver", "a tool that halves", policy=Policy(missing="skip"), settings={"gain": "exp2"}
    )
    monkeypatch.setattr(dialect_catalogue, "DIALECTS", (*dialect_catalogue.DIALECTS, added))
    found = gf.evaluate(JUDGMENTS, {"q1": RUN["q1"]}, "nDCG@3", dialect="halver")
    direct = gf.evaluate(
        JUDGMENTS, {"q1": RUN["q1"]}, "nDCG(gain=exp2)@3", policy=Policy(missing="skip")
    )
    assert found["nDCG@3"] == direct["nDCG(gain=exp2)@3"]
    assert gf.measures.dialect("Halver") in gf.measures.dialects()
    why = gf.why(JUDGMENTS, RUN, "nDCG@3", dialects=["halver", "trec_eval"])
    assert [cause.name for cause in why.causes] == ["gain"]


def test_a_statistical_test_is_one_entry(monkeypatch):
    def constant(column, _tie):
        return Outcome("constant", 0.01, float(column[0]), column.size)

    added = PairedTest("test that always finds", "p is always 0.01", by_column(constant))
    monkeypatch.setitem(TESTS, "constant", added)
    tables = {"old": scores(20), "new": scores(20, better=0.1)}
    found = gf.comparison.compare_scores(tables, test="constant")
    (one,) = found.differences
    assert (one.test, one.p, one.verdict.word) == ("constant", 0.01, "better")
    assert "p = 0.0100" in one.verdict.sentence
    assert "(test that always finds, p < 0.05)" in found.systems_table().caption
    assert gf.comparison.comparison_choices()["test"]["constant"] == "p is always 0.01"


def test_a_statistical_test_may_lean_on_something_else_than_the_mean(monkeypatch):
    def always(column, _tie):
        return Outcome("always", 0.01, 0.0, column.size)

    down = PairedTest("test that leans down", "", by_column(always), leans=lambda *_: -1.0)
    monkeypatch.setitem(TESTS, "down", down)
    tables = {"old": scores(20), "new": scores(20, better=0.1)}
    (one,) = gf.comparison.compare_scores(tables, test="down").differences
    assert one.verdict.word == "inconclusive"
    assert "the test and the mean point in different directions" in one.verdict.sentence


def one_third(p):
    return np.minimum(3 * p, 1)


def joint(scores, _draws):
    systems, measures = scores.shape[1:]
    return JointTest(np.full((systems, systems, measures), 0.03))


@pytest.mark.parametrize(
    ("correction", "p", "caption"),
    [
        (Correction("Thirds", "three times p", one_third), None, "with Thirds correction over 2"),
        (Correction("Joint", "all at once", test_scores=joint), 0.03, "(Joint, 2 comparisons"),
        (
            Correction(
                "Together",
                "all at once",
                test_differences=lambda differences, _: np.full(differences.shape[1], 0.04),
            ),
            0.04,
            "(Together, 2 comparisons",
        ),
    ],
)
def test_a_correction_is_one_entry(monkeypatch, correction, p, caption):
    monkeypatch.setitem(CORRECTIONS, "new", correction)
    tables = {"old": scores(20), "one": scores(20, seed=2), "two": scores(20, seed=3, better=1)}
    found = gf.comparison.compare_scores(tables, correction="new")
    for one, plain in zip(
        found.differences,
        gf.comparison.compare_scores(tables, correction="none").differences,
        strict=True,
    ):
        expected = min(3 * plain.p, 1) if p is None else p
        assert math.isclose(one.p, expected)
        assert f", {correction.title} over 2 comparisons, " in one.verdict.sentence
    assert caption in found.systems_table().caption
    assert any("corrected over 2 comparisons (new)" in note for note in found.notes())
    assert gf.comparison.comparison_choices()["correction"]["new"] == correction.meaning


@pytest.fixture
def sentences(monkeypatch, tmp_path):
    """Files of lines such as `a is 3.5 in q1`, below a line that says what these are, as a text format."""

    def layout(head, _table):
        names = head.first.decode()
        return (
            Layout("sentences", names=tuple(names.split()[1:-1]))
            if names.startswith("%%")
            else None
        )

    def fields(file, _layout):
        for number, line in enumerate(file.path.read_text().splitlines()[1:], 2):
            yield number, re.split(" is | in ", line)

    added = TextFormat("sentences", layout, fields)
    monkeypatch.setattr(text_formats, "FORMATS", [added, *text_formats.FORMATS])

    def write(name, names, *lines):
        (tmp_path / name).write_text("\n".join([f"%% {names} %%", *lines]))
        return tmp_path / name

    return write


def lines(documents):
    return [f"{doc} is {n} in {q}" for q, found in documents.items() for doc, n in found.items()]


@pytest.mark.parametrize("policy", [{}, {"unjudged": "condense"}])
def test_a_text_format_is_one_entry_for_runs_and_judgments(sentences, policy):
    judged = sentences("judged.txt", "doc grade query", *lines(JUDGMENTS))
    run = sentences("run.txt", "doc score query", *lines(RUN))
    found = gf.evaluate(judged, run, ["nDCG@10", "P@1"], policy=policy)
    expected = gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "P@1"], policy=policy)
    assert found.to_dict() == expected.to_dict()
    assert all(finding.severity != "error" for finding in gf.check(judged, run))
    assert dict(gf.fuse([run, RUN])) == dict(gf.fuse([RUN, RUN]))
    done = CliRunner().invoke(commands, ["evaluate", str(judged), str(run), "-m", "nDCG@10"])
    assert done.exit_code == 0
    assert f"{gf.evaluate(JUDGMENTS, RUN, 'nDCG@10')['nDCG@10']:.4f}" in done.stdout


def test_it_is_one_entry_for_all_other_tables(sentences):
    runs = {
        name: sentences(
            name, "query nDCG", *(f"q{at} is {value}" for at, value in enumerate(values))
        )
        for name, values in (("old", (0.25, 0.5)), ("new", (0.5, 0.75)))
    }
    (one,) = gf.comparison.compare_scores(runs).differences
    assert (one.measure, one.baseline_mean, one.run_mean) == ("nDCG", 0.375, 0.625)


COLOURS = Roles(
    contents="the colours of queries",
    keys=(Role("query", ALIASES["query"]),),
    values=(Role("colour", ("colour", "color"), "label"),),
)
BY_QUERY = {"q1": "red", "q2": "green"}
RECORDS = [{"qid": query, "Color": colour} for query, colour in BY_QUERY.items()]


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet", "txt"])
def test_a_kind_of_table_is_one_entry_for_files(ending, sentences, tmp_path):
    path, frame = tmp_path / f"colours.{ending}", pl.DataFrame(RECORDS)
    match ending:
        case "csv" | "tsv":
            frame.write_csv(path, separator="," if ending == "csv" else "\t")
        case "json":
            path.write_text(json.dumps(BY_QUERY))
        case "jsonl":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
        case "txt":
            rows = [f"{query} is {colour}" for query, colour in BY_QUERY.items()]
            sentences(path.name, "query colour", *rows)
    read = read_table(path, COLOURS, "colours")
    assert read.roles == {"query": ("q1", "q2"), "colour": ("red", "green")}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, list])
def test_it_is_one_entry_for_objects(make):
    read = read_table(make(BY_QUERY if make is dict else RECORDS), COLOURS, "colours")
    assert read.roles == {"query": ("q1", "q2"), "colour": ("red", "green")}
    with pytest.raises(gf.errors.InputError, match=r"colours: .*Give it one of these names"):
        read_table(pd.DataFrame([{"qid": "q1", "taste": "sweet"}]), COLOURS, "colours")


def test_a_code_is_one_entry(monkeypatch):
    code = "input.untuned"
    meaning = "The run is out of tune."
    monkeypatch.setattr(gf.errors, "CODES", {**gf.errors.CODES, code: meaning})
    untuned = gf.errors.InputError("a.run", "a tuned run", "another", code=code, subject="q1")
    for problem in (untuned, untuned.at("b.run"), pickle.loads(pickle.dumps(untuned))):  # noqa: S301
        assert (problem.code, problem.subject) == (code, "q1")
    with pytest.warns(gf.errors.GainfulWarning) as seen:
        gf.errors.warn("the run is out of tune.", code=code)
    assert [one.message.code for one in seen] == [code]
    monkeypatch.syspath_prepend(ROOT / "docs")
    import generate

    assert f"| `{code}` | {meaning} |" in generate.error_codes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b is fine in q2", r"run\.txt:7: expected a finite number as the score, found 'fine'"),
        ("x is 0.5 in q2", r"run\.txt:7: .* found document 'x' of query 'q2' again"),
        ("b is 0.5", r"run\.txt:7: expected 3 fields \(doc, score, query\), found 2"),
    ],
)
def test_what_is_wrong_in_such_a_file_is_reported_with_its_line(sentences, line, message):
    run = sentences("run.txt", "doc score query", *lines(RUN), line)
    with pytest.raises(gf.errors.InputError, match=message):
        gf.evaluate(JUDGMENTS, run, "nDCG")


def test_a_shape_is_one_entry(monkeypatch, tmp_path):
    def places(value, _):
        if not isinstance(value, dict) or [*value] != ["winners"]:
            return None
        return {
            query: {doc: -float(place) for place, doc in places.items()}
            for query, places in value["winners"].items()
        }

    def refused(value, reader):
        if isinstance(value, dict) and [*value] == ["sealed"]:
            raise gf.errors.InputError(reader.name, "an open run", "a sealed one")

    podium = Shape(
        "documents by their places",
        '{"winners": {"q1": {"1": "d1", "2": "d2"}}}',
        places,
    )
    sealed = Shape("a sealed run", '{"sealed": "…"}', refused)
    monkeypatch.setattr(shapes, "SHAPES", (podium, sealed, *SHAPES))
    for name, content in (
        ("winners", {"q1": {"1": "c", "2": "a"}, "q2": {"1": "a"}}),
        ("sealed", "secret"),
    ):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({name: content}, indent=1))
        for run in ({name: content}, path):
            if name == "winners":
                assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == 0.75
            else:
                with pytest.raises(gf.errors.InputError, match="an open run, found a sealed one"):
                    gf.evaluate(JUDGMENTS, run, "RR")


@pytest.mark.parametrize("warned", [True, False])
def test_a_mistake_in_a_sample_is_one_entry(warned, monkeypatch):
    def find(sample):
        if sample.run[0][1] == 13:
            yield Slip("the first score is 13", "Take another one.")

    added = Rule("unlucky-score", "warning", "A score of 13.", "Avoid it.", find, "sample", warned)
    monkeypatch.setattr(mistakes, "MISTAKES", (*MISTAKES, added))
    run = {"q1": {"a": 13, "b": 1}, "q2": {"a": 2.5}}
    (finding,) = (one for one in gf.check(JUDGMENTS, {"mine": run}) if one.rule == added.name)
    assert (finding.severity, finding.message) == ("warning", "the first score is 13")
    assert finding.remedy == "Take another one."
    if warned:
        with pytest.warns(
            gf.errors.GainfulWarning, match="the first score is 13. Take another one."
        ):
            gf.evaluate(JUDGMENTS, run)
    else:
        gf.evaluate(JUDGMENTS, run)
    assert added.name not in [one.rule for one in gf.check(JUDGMENTS, {"mine": RUN})]


def test_a_rule_of_a_check_is_one_entry(monkeypatch):
    def find(look):
        for count, number, place in look.first_row("number = ?", [2]):
            yield Draft(look.table, count, "grades of 2", f"{number:g}", *place)

    added = Rule("twos", "note", "A grade of 2.", "Nothing.", find, "judgments")
    monkeypatch.setattr(rules, "RULES", (*rules.RULES, added))
    (finding,) = (one for one in gf.check(JUDGMENTS, {"mine": RUN}) if one.rule == "twos")
    assert (finding.count, finding.query, finding.doc, finding.remedy) == (1, "q1", "b", "Nothing.")


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_example_of_a_shape_has_it(shape):
    if "ranx" in shape.example:
        pytest.importorskip("ranx")
        import ranx

        value = eval(shape.example, {"ranx": ranx})  # noqa: S307 - of our own table
    else:
        value = json.loads(shape.example)
    of_judgments = any(field in shape.example for field in ("rule", "relevant_docs"))
    kind = JUDGED if of_judgments else A_RUN
    columns = Columns(queries=["q1"] if "queries=" in shape.name else None)
    reader = ListReader(kind, columns, "run")
    for each in SHAPES[: SHAPES.index(shape)]:
        assert each.read(value, reader) is None
    if shape.read.__name__.startswith("_refuse"):
        with pytest.raises(gf.errors.InputError):
            shape.read(value, reader)
    else:
        assert shape.read(value, reader) is not None


def test_the_files_and_folders_that_the_page_names_exist():
    named = set(
        re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", PAGE.read_text() + ADDITIONS.read_text())
    )
    assert len(named) > 20
    places = (ROOT, ROOT / "src", ROOT / "src" / "gainful")
    assert [path for path in named if not any((place / path).exists() for place in places)] == []
