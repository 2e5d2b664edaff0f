"""One catalogue: a made-up family of each kind of need is measured, compared, explained, gated and reported."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.evaluation import measuring
from gainful.evaluation import recommending as of_items
from gainful.evaluation import subtopics as of_subtopics
from gainful.evaluation.gains_ranks_and_ideals import Arithmetic, Terms
from gainful.measures import measure as catalogued
from gainful.measures.measure_family import GRADES, ITEMS, SUBTOPICS, Example, Family
from gainful.measures.notation import forget
from gainful.measures.parameters import REL

JUDGMENTS = {f"q{i}": {"a": 3, "b": 1, "c": 0} for i in range(12)}
OLD = {query: {"c": 3.0, "b": 2.0, "a": 1.0} for query in JUDGMENTS}
NEW = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in JUDGMENTS}
RUNS = {"old": OLD, "new": NEW}
TABLES = {
    "subtopics": {query: {"x": {"a": 1}, "y": {"b": 1}} for query in JUDGMENTS},
    "items": {"a": "red", "b": "blue", "c": "red", "d": "blue"},
}
NAMES = {GRADES: "FirstGrade", SUBTOPICS: "FirstSubtopics", ITEMS: "FirstIsRed"}


@pytest.fixture(params=NAMES, ids=str)
def made_up(request, monkeypatch):
    """Register a family that looks at the first document alone."""
    needs = request.param
    family = Family(
        name=NAMES[needs],
        title="What the first document is worth",
        definition=f"{NAMES[needs]} = the worth of the document at rank 1",
        range="0 or more",
        citation="none",
        example=Example(NAMES[needs], (3, 1), "3", "3"),
        parameters=(REL,) if needs == SUBTOPICS else (),
        needs=needs,
    )
    entries = (*catalogued.CATALOGUE, family)
    monkeypatch.setattr(catalogued, "CATALOGUE", entries)

    def first_grade(sheet, parameters, cutoffs):
        grades, first, _ = sheet.graded()
        value = np.zeros(len(sheet.matched.queries))
        value[sheet.owner[first == 1]] = grades[first == 1]
        return np.repeat(value[:, None], len(cutoffs), axis=1)

    def its_terms(sheet, parameters, cutoff):
        grades, first, _ = sheet.graded()
        return Terms(np.nan_to_num(grades), (first == 1).astype(float))

    def first_subtopics(facets, measure):
        return float(facets.listed[:1].sum())

    def first_is_red(shown):
        column, lists = shown.categories, shown.lists
        red = column.items[column.categories == column.names.index("red")]
        return np.isin(lists.items[lists.rank == 1], red).astype(float)

    graded = Arithmetic("grade", "is first", its_terms, first_grade)
    monkeypatch.setitem(measuring.COMPUTE, NAMES[GRADES], graded)
    monkeypatch.setitem(of_subtopics.COMPUTE, NAMES[SUBTOPICS], first_subtopics)
    monkeypatch.setitem(of_items.COMPUTE, NAMES[ITEMS], first_is_red)
    forget()
    yield family
    monkeypatch.undo()
    forget()


WORTH = {GRADES: (0.0, 3.0), SUBTOPICS: (0.0, 1.0), ITEMS: (1.0, 1.0)}


def test_a_made_up_family_is_seen_everywhere(made_up):
    name, (old, new) = made_up.name, WORTH[made_up.needs]
    assert gf.measure(f"{name.lower()}@5") == gf.Measure(name, k=5)
    assert made_up in gf.measures.families(needs=made_up.needs)
    scores = gf.evaluate(JUDGMENTS, NEW, ["nDCG@10", name], **TABLES)
    assert scores[name] == new
    assert scores.per_query[name] == [new] * len(JUDGMENTS)
    found = gf.compare(JUDGMENTS, RUNS, [name, "nDCG@10"], **TABLES)
    assert found["new", name].difference == new - old
    checked = found.gate(f"{name} < 5").checked
    assert [(each.condition.text, each.failed) for each in checked] == [(f"{name} < 5", True)]
    explained = gf.explain(JUDGMENTS, NEW, name, query="q3", **TABLES)
    assert explained.value == new
    assert [step.doc for step in explained.parts[0].steps] == ["a", "b", "c"]
    formula = gf.evaluate(JUDGMENTS, NEW, f"0.5*{name} + 0.5*nDCG@10", **TABLES)
    assert list(formula.means.values()) == [0.5 * new + 0.5]
    assert "of the document at rank 1" in gf.writing.render(gf.measures.family(name))
    page = gf.report(JUDGMENTS, RUNS, [name, "nDCG@10"], **TABLES).payload()
    assert name in json.dumps(page)


def test_a_made_up_family_needs_no_code_on_the_command_line(made_up, files):
    def printed(*arguments):
        done = CliRunner().invoke(commands, [*map(str, arguments)])
        assert done.exit_code == 0, done.output
        return done.output

    qrels = "".join(f"{q} 0 {d} {g}\n" for q, docs in JUDGMENTS.items() for d, g in docs.items())
    run = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, docs in NEW.items() for d, s in docs.items())
    topics = "".join(f"{q} x a 1\n{q} y b 1\n" for q in JUDGMENTS)
    given = [files("a.qrels", qrels), files("a.run", run), "-m", made_up.name]
    given += ["--subtopic-judgments", files("s.qrels", topics), "--items"]
    given += [files("i.csv", "item,colour\na,red\nb,blue\nc,red\nd,blue\n"), "-f", "csv"]
    assert f"{WORTH[made_up.needs][1]:g}" in printed("evaluate", *given)
    assert "of the document at rank 1" in printed("measures", made_up.name)


def test_measures_of_all_kinds_stand_in_one_table():
    measures = ["nDCG@10", "alpha_nDCG@20", "ILD@10", "Coverage@3"]
    scores = gf.evaluate(JUDGMENTS, NEW, measures, **TABLES)
    alone = gf.subtopics.evaluate_subtopics(TABLES["subtopics"], NEW, "alpha_nDCG@20")
    items = gf.recommending.evaluate_recommendations(
        NEW, ["ILD@10", "Coverage@3"], items=TABLES["items"]
    )
    assert scores["alpha_nDCG@20"] == alone["alpha_nDCG@20"]
    assert scores.per_query["alpha_nDCG@20"] == alone.per_query["alpha_nDCG@20"]
    assert scores.per_query["ILD@10"] == items.per_query["ILD@10"]
    assert scores["Coverage@3"] == scores.run_values["Coverage@3"] == items["Coverage@3"]
    assert "Coverage@3" not in scores.per_query.columns
    assert "tables=" in scores.signature("ILD@10")
    assert "tables=" not in scores.signature("nDCG@10")
    other = gf.evaluate(JUDGMENTS, NEW, measures, **{**TABLES, "items": {"a": "red", "b": "red"}})
    assert other.signature("ILD@10") != scores.signature("ILD@10")


@pytest.mark.parametrize("measures", [["nDCG@10", "Coverage@3"], ["Coverage@3", "nDCG@10"]])
@pytest.mark.parametrize("runs", [RUNS, {"new": NEW}], ids=len)
def test_reports_contain_measures_of_the_run_as_a_whole(measures, runs):
    page = gf.report(JUDGMENTS, runs, measures, **TABLES).payload()
    whole, queries = measures.index("Coverage@3"), measures.index("nDCG@10")
    assert page["runs"][-1]["means"][whole] == 0.75
    assert page["scores"][queries][-1] == [1.0] * len(JUDGMENTS)
    assert page["scores"][whole][-1] == [None] * len(JUDGMENTS)
    assert page["means"] == []


def test_tables_that_lack_are_named():
    for name, table in (("alpha_nDCG@20", "subtopics="), ("ILD@10", "items=")):
        for measure in (gf.evaluate, gf.compare):
            run = NEW if measure is gf.evaluate else RUNS
            with pytest.raises(gf.errors.MeasureError, match=table):
                measure(JUDGMENTS, run, name)
    with pytest.raises(gf.errors.MeasureError, match="which has one value for the whole run"):
        gf.explain(JUDGMENTS, NEW, "Coverage@3", query="q1", items=TABLES["items"])


def test_queries_without_subtopics_do_not_count():
    some = {query: topics for query, topics in TABLES["subtopics"].items() if query != "q3"}
    scores = gf.evaluate(JUDGMENTS, NEW, ["nDCG@10", "strec@1"], subtopics=some)
    assert scores.per_query.to_dict()["q3"]["strec@1"] is None
    assert scores["strec@1"] == 0.5
    lost = {query: docs for query, docs in NEW.items() if query != "q5"}
    assert gf.evaluate(JUDGMENTS, lost, "strec@1", subtopics=some)["strec@1"] == pytest.approx(
        0.5 * 10 / 11
    )
