"""Measures of one's own: declared once, and then a measure like any other."""

import importlib.metadata
import math
import pickle
import sys
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

import gainful as gf
from gainful.measures import notation, own_measures
from random_runs import random_cases

pytestmark = [
    pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning"),
    pytest.mark.usefixtures("_no_own_names"),
]

JUDGMENTS, RUN = random_cases(range(60), grades=(0, 0, 1, 2, 3), scores=(0.1, 0.5, 0.7, 3.0))
BY_HAND = (
    {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"d": 1}},
    {
        "q1": {"a": 3.0, "x": 2.0, "b": 1.0},
        "q2": {"x": 2.0, "y": 1.0},
    },
)


@gf.measures.define("HitAll", cutoff=True, range=(0, 1), per_query=True)
def hit_all(found, *, rel=1):
    """1 where every relevant document is retrieved, else 0.

    A second paragraph, which is no part of the definition.
    """
    return float((found.grade >= rel).sum() == (found.judged >= rel).sum())


@gf.measures.define("OwnP", cutoff=True, range=(0, 1))
def own_precision(lists, *, rel=1):
    """The share of relevant documents among the first k."""
    return lists.sums(lists.grade >= rel) / (lists.k or np.maximum(lists.retrieved, 1))


@gf.measures.define("OwnDCG", cutoff=True, per_query=True)
def own_dcg(found, gain: Literal["linear", "exp2"] = "linear"):
    grades = found.grades()
    worth = 2**grades - 1 if gain == "exp2" else grades
    return (worth / np.log2(np.arange(2, len(grades) + 2))).sum()


@gf.measures.define("OwnAP", range=(0, 1))
def own_ap(lists, *, rel=1):
    """Average precision."""
    relevant = lists.grade >= rel
    running = (
        np.cumsum(relevant) - np.concatenate(([0], np.cumsum(lists.sums(relevant))))[lists.owner]
    )
    total = lists.judged_sums(lists.judged >= rel)
    found = lists.sums(np.where(relevant, running / lists.rank, 0.0))
    return np.divide(found, total, out=np.zeros(len(lists)), where=total > 0)


@gf.measures.define("Kept", ties=True)
def kept(lists):
    return lists.sums(lists.grade * (lists.last - lists.first + 1))


TWINS = {
    own_precision: "P",
    own_precision @ 3: "P@3",
    own_precision(rel=2) @ 3: "P(rel=2)@3",
    own_dcg: "DCG",
    own_dcg @ 4: "DCG@4",
    own_dcg(gain="exp2") @ 2: "DCG(gain=exp2)@2",
    own_ap: "AP",
    own_ap(rel=2): "AP(rel=2)",
}


def as_arrow(documents, number):
    rows = [(q, d, float(n)) for q, docs in documents.items() for d, n in docs.items()]
    return pa.table(dict(zip(("query", "doc", number), zip(*rows, strict=True), strict=True)))


def test_worked_by_hand():
    found = gf.evaluate(*BY_HAND, [hit_all, hit_all @ 2, hit_all(rel=2), hit_all(rel=2) @ 2])
    assert found.per_query.to_dict() == {
        "q1": {"HitAll": 1.0, "HitAll@2": 0.0, "HitAll(rel=2)": 1.0, "HitAll(rel=2)@2": 0.0},
        "q2": {"HitAll": 0.0, "HitAll@2": 0.0, "HitAll(rel=2)": 1.0, "HitAll(rel=2)@2": 1.0},
    }
    assert found[hit_all @ 2] == 0.0
    assert found["HitAll(rel=2)@2"] == 0.5


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"ties": "best"},
        {"ties": "worst"},
        {"unjudged": "condense"},
        {"unjudged": 1.0},
        {"missing": "skip"},
        {"precision": "single"},
        {"ties": "doc_ascending", "negative": "zero"},
    ],
    ids=str,
)
def test_the_numbers_of_the_catalogue(choices):
    measures = [each for twin in TWINS.items() for each in twin]
    found = gf.evaluate(JUDGMENTS, RUN, measures, policy=gf.Policy(**choices))
    for own, name in TWINS.items():
        assert found.per_query[own] == pytest.approx(found.per_query[name], abs=1e-12), own
        assert found[own] == pytest.approx(found[name], abs=1e-12)
    alone = [
        gf.evaluate(JUDGMENTS, RUN, each, policy=gf.Policy(**choices)) for each in (own_ap, "AP")
    ]
    assert alone[0].coverage == alone[1].coverage


def test_from_every_kind_of_input(files):
    expected = gf.evaluate(JUDGMENTS, RUN, list(TWINS)).values
    frames = as_arrow(JUDGMENTS, "grade"), as_arrow(RUN, "score")
    assert (gf.evaluate(*frames, list(TWINS)).values == expected).all()
    texts = [
        "\t".join(frame.column_names)
        + "".join("\n" + "\t".join(map(str, row.values())) for row in frame.to_pylist())
        for frame in frames
    ]
    paths = [files(f"{number}.tsv", text) for number, text in enumerate(texts)]
    assert (gf.evaluate(*paths, list(TWINS)).values == expected).all()
    arrays = gf.evaluate_arrays(
        labels=[[1, 0, 2]], scores=[[3.0, 2.0, 1.0]], measures=[own_precision @ 2, hit_all]
    )
    assert arrays.means == {"OwnP@2": 0.5, "HitAll": 1.0}


def test_wherever_a_measure_is(tmp_path):
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    runs = {"one": RUN, "two": other}
    own, twin = own_precision @ 3, "P@3"
    found = gf.compare(JUDGMENTS, runs, [own, twin], by="judged")
    assert found["two", own].difference == found["two", twin].difference
    assert found["two", own].p == found["two", twin].p
    scores = gf.evaluate_runs(JUDGMENTS, runs, own)["one"]
    assert scores.interval(own) == gf.evaluate(JUDGMENTS, RUN, twin).interval(twin)
    assert "OwnP@3" in scores.signature(own)
    with pytest.raises(gf.errors.InputError, match=r"gainful\.measures\.use registers your own"):
        gf.comparison.save_baseline(scores, tmp_path / "base.json")
    gf.measures.use(own_precision)
    gf.comparison.save_baseline(scores, tmp_path / "base.json")
    assert gf.comparison.read_baseline(tmp_path / "base.json").measures == (own,)
    report = gf.report(JUDGMENTS, runs, measures=[own, "nDCG@10"])
    assert report.to_html().count("OwnP@3") > 2
    assert gf.assert_not_worse(JUDGMENTS, RUN, RUN, [own])["run", own].difference == 0


def test_slices_are_those_of_the_catalogue():
    own, twin = own_precision @ 3, "P@3"
    kinds = {query: {"kind": "ab"[at % 2]} for at, query in enumerate(JUDGMENTS)}
    options = {"slices": kinds, "by": ["kind", "judged"]}
    found, expected = (gf.evaluate(JUDGMENTS, RUN, each, **options) for each in (own, twin))
    assert len(found.slices) == len(expected.slices) > 3
    for one, other in zip(found.slices, expected.slices, strict=True):
        assert (one.column, one.value, one.queries) == (other.column, other.value, other.queries)
        assert one.mean == pytest.approx(other.mean, abs=1e-12)
        assert one.interval().low == pytest.approx(other.interval().low, abs=1e-12)


def test_gates_are_those_of_the_catalogue():
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    found = gf.compare(JUDGMENTS, {"one": RUN, "two": other}, [own_precision @ 3, "P@3"])
    for rule in ("Δ {} < -0.01", "Δ {} > -0.9", "{} < 0.5", "mean({}) > 0.01"):
        one, twin = (found.gate(rule.format(name)).checked[0] for name in ("OwnP@3", "P@3"))
        assert (one.failed, one.found) == (twin.failed, twin.found)
        alone = [
            gf.results.Gate.of_scores(gf.evaluate(JUDGMENTS, RUN, each), f"{name} < 0.3").failed
            for each, name in ((own_precision @ 3, "OwnP@3"), ("P@3", "P@3"))
        ]
        assert alone[0] == alone[1]


def test_an_open_order_is_refused_unless_it_is_provided_for():
    judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    policy = gf.Policy(ties="average")
    with pytest.raises(gf.errors.InputError, match="HitAll under ties=average: expected no tied"):
        gf.evaluate(judgments, run, hit_all, policy=policy)
    assert gf.evaluate(judgments, run, kept, policy=policy)["Kept"] == 2
    assert gf.evaluate(judgments, run, kept)["Kept"] == 1


def test_queries_that_the_run_lacks_are_not_asked_for():
    seen = []

    @gf.measures.define("Seen", per_query=True)
    def see(found):
        seen.append(found.query)
        return 1 / found.retrieved

    judgments, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}
    assert gf.evaluate(judgments, run, see)["Seen"] == 0.5
    assert seen == ["q1"]
    assert gf.evaluate(judgments, run, see, policy=gf.Policy(missing="skip"))["Seen"] == 1.0


def test_names_are_given_on_purpose():
    for text in ("HitAll", "HitAll@5", "hitall(rel=2)@5"):
        with pytest.raises(gf.errors.MeasureError, match="a measure from the catalogue"):
            gf.measure(text)
    gf.measures.use(hit_all, "test_own_measures:own_precision")
    gf.measures.use(hit_all)  # once more changes nothing
    assert gf.measure("hitall(rel=2)@5") == hit_all(rel=2) @ 5
    for measure in (hit_all, hit_all(rel=2.5) @ 7, own_precision @ 3):
        assert gf.measure(str(measure)) == measure
    found = gf.evaluate(*BY_HAND, "HitAll@2,3 OwnP(rel=1)@1, P@1")
    assert [*map(str, found.measures)] == ["HitAll@2", "HitAll@3", "OwnP@1", "P@1"]
    with pytest.raises(
        gf.errors.MeasureError, match=r"found 'HitAl'\. Did you mean 'HitAll' \(a user"
    ):
        gf.measure("HitAl@5")
    assert gf.measures.family("HitAll").definition.startswith("1 where every relevant document is")
    assert "second" not in gf.measures.family("HitAll").definition
    with pytest.raises(gf.errors.MeasureError, match="no cutoff, which this measure"):
        own_ap @ 3
    with pytest.raises(gf.errors.MeasureError, match=r"HitAll: expected a parameter .*rel"):
        gf.measure("HitAll(level=2)")
    with pytest.raises(gf.errors.MeasureError, match="rel: expected a number, found 'x'"):
        hit_all(rel="x")
    with pytest.raises(gf.errors.MeasureError, match="gain: expected linear or exp2"):
        own_dcg(gain="log")


def test_a_clash_of_names_names_both():
    @gf.measures.define("hitALL")
    def other(lists):
        return lists.retrieved

    @gf.measures.define("map")
    def also(lists):
        return lists.retrieved

    gf.measures.use(hit_all)
    with pytest.raises(gf.errors.MeasureError, match=r"other'.*'hitALL', which is \S+:hit_all"):
        gf.measures.use(other)
    with pytest.raises(gf.errors.MeasureError, match="'map', which is AP of the catalogue"):
        gf.measures.use(also)


def test_by_an_entry_point(tmp_path, monkeypatch):
    (tmp_path / "team_measures.py").write_text(
        "import gainful as gf\n@gf.measures.define('Depth')\ndef depth(lists):\n    return lists.retrieved\n"
    )
    for name, points in (
        ("team", "Depth = team_measures:depth\nwrong = team_measures:gf\n"),
        ("b", ""),
    ):
        folder = tmp_path / f"{name}-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (folder / "entry_points.txt").write_text(f"[gainful.measures]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    assert "team_measures" not in sys.modules
    assert gf.evaluate(*BY_HAND, "Depth")["Depth"] == 2.5
    with pytest.raises(
        gf.errors.MeasureError, match=r"entry point team_measures:gf: .*made by gainful"
    ):
        gf.measure("wrong")
    (tmp_path / "b-1.dist-info" / "entry_points.txt").write_text(
        "[gainful.measures]\nDepth = b:d\n"
    )
    notation.forget()
    with pytest.raises(
        gf.errors.MeasureError, match="one measure of this name, found b:d and team"
    ):
        gf.measure("Depth@3")


def test_installed_packages_are_looked_through_once_and_again_after_an_installation(
    tmp_path, monkeypatch
):
    looked = []
    original = importlib.metadata.entry_points
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda **group: looked.append(1) or original(**group)
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("Later", "Other", "Later"):
        with pytest.raises(gf.errors.MeasureError):
            gf.measure(name)
    assert len(looked) == 1
    (tmp_path / "later_measures.py").write_text(
        "import gainful as gf\n@gf.measures.define('Later')\ndef later(grades): return 1.0\n"
    )
    folder = tmp_path / "later-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: later\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[gainful.measures]\nLater = later_measures:later\n")
    assert str(gf.measure("Later")) == "Later"


def _bad(function, **options):
    return gf.measures.define("Bad", **options)(function)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (_bad(lambda found: 1 / (found.retrieved - 2), per_query=True),
         r"Bad, function \S+, query 'q2': expected a value, found ZeroDivisionError"),
        (_bad(lambda found: math.nan, per_query=True), r"query 'q1': expected a finite value, found nan"),
        (_bad(lambda found: "much", per_query=True), r"query 'q1': expected a number, found 'much'"),
        (_bad(lambda found: [1, 2], per_query=True), r"query 'q1': expected a number, found \[1, 2\]"),
        (_bad(lambda lists: lists.retrieved - 2.5, range=(0, 1)),
         r"query 'q2': expected a value within its range, 0 to 1, found -0.5"),
        (_bad(lambda lists: lists.retrieved * 0.5, range=(0, 1)), r"query 'q1': .* found 1.5"),
        (_bad(lambda lists: np.log(lists.retrieved - 3.0)), "query 'q1': expected a finite value, found -inf"),
        (_bad(lambda lists: 1.0), "one value for each of the 2 queries, found 1.0. With per_query=True"),
        (_bad(lambda lists: lists.grade), r"each of the 2 queries, found the shape \(3,\)"),
        (_bad(lambda lists: "x"), "each of the 2 queries, found 'x'"),
        (_bad(lambda lists: {"q1": 1, "q2": 2}["q0" if "q2" in lists.queries else "q1"]),
         "query 'q2': expected a value, found KeyError: 'q0'"),
        (_bad(lambda lists: lists.grade.sort()), "query 'q1': expected a value, found ValueError: .*read-only"),
    ],
    ids=range(12),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_bad_measure_is_told_with_its_query_and_function(measure, words):
    run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 2.0, "y": 1.0}}
    with pytest.raises(gf.errors.InputError, match=words):
        gf.evaluate(BY_HAND[0], run, measure)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gf.measures.define("a b"), "a name of letters, digits and underscores"),
        (lambda: gf.measures.define("Hit_5"), "read its end as a cutoff"),
        (lambda: gf.measures.define(""), "found ''"),
        (
            lambda: gf.measures.define(len),
            r"found a function. Write @gf.measures.define\('HitAll'\) above it",
        ),
        (lambda: gf.measures.define("X", range=(1, 0)), "the lowest and the highest value"),
        (lambda: gf.measures.define("X", range=1), "the lowest and the highest value"),
        (lambda: gf.measures.define("X")(3), "a function below it, found 3"),
        (lambda: gf.measures.define("X")(lambda: 1), "the lists as its first argument, found none"),
        (lambda: gf.measures.define("X")(lambda lists, rel: 1), "a default for its parameter rel"),
        (
            lambda: gf.measures.define("X")(lambda lists, **rel: 1),
            "a default for its parameter rel",
        ),
        (
            lambda: gf.measures.define("X")(lambda lists, rel="a": 1),
            r"found 'a'. For words, annotate it as Literal",
        ),
        (
            lambda: gf.measures.use("x"),
            "the location of a measure, a discount or a gain, such as 'package.module:name'",
        ),
        (lambda: gf.measures.use(3), "the location of a measure"),
        (lambda: gf.measures.use("no_such_module:x"), "found No module named"),
        (lambda: gf.measures.use("math:x"), "a name in math, found 'x'"),
        (lambda: gf.measures.use("math:pi"), "measures.define, found 3.14"),
    ],
    ids=range(16),
)
def test_a_bad_declaration_is_told(call, words):
    with pytest.raises(gf.errors.MeasureError, match=words):
        call()


def test_it_goes_to_other_processes_by_its_place():
    for measure in (hit_all, hit_all(rel=2) @ 5, own_dcg(gain="exp2")):
        again = pickle.loads(pickle.dumps(measure))  # noqa: S301
        assert again == measure
        assert again.own is measure.own
    scores = gf.evaluate(*BY_HAND, hit_all)
    assert str(pickle.loads(pickle.dumps(scores))) == str(scores)  # noqa: S301


def test_every_measure_takes_a_cutoff_by_at():
    assert gf.Measure("nDCG") @ 10 == gf.measure("nDCG@10")


TEAM = """
import gainful as gf
@gf.measures.define("Returned", cutoff=True)
def returned(lists, *, times=1):
    "How many documents there are."
    return lists.retrieved * times
"""


def test_on_the_command_line(cli, files, tmp_path, monkeypatch):
    files("command_team.py", TEAM)
    judgments, run = files("j", "q 0 a 1\nq 0 b 3\n"), files("r", "q 0 a 1 2 t\nq 0 b 2 1 t\n")
    other = files("o", "q 0 a 1 2 t\n")
    monkeypatch.chdir(tmp_path)
    place = ("--define", "command_team:returned")
    done = cli(
        "evaluate", judgments, run, *place, "-m", "Returned(times=3)@1 Returned", "-f", "csv"
    )
    assert done.stdout.splitlines()[-1].endswith(",3.0,2.0")
    done = cli(
        "compare", judgments, run, other, *place, "-m", "Returned", "--fail-if", "Returned < 3"
    )
    assert done.returncode == 1
    assert "Returned" in done.stdout
    assert "How many documents there are" in cli("measures", "returned", *place).stdout
    monkeypatch.setenv("GAINFUL_TRUST", "1")
    (tmp_path / "gainful.toml").write_text(
        'define = "command_team:returned"\nmeasures = "Returned"\n'
    )
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.delitem(sys.modules, "command_team")
    own_measures.MEASURES.in_use.clear()
    notation.forget()
    done = cli("evaluate", judgments, run, "-f", "csv")
    assert done.stdout.splitlines()[-1].endswith(",2.0")
    done = cli("evaluate", judgments, run, "--define", "command_team:none")
    assert done.returncode == 2
    assert "a name in command_team, found 'none'" in done.stderr


def test_a_name_of_the_catalogue_is_refused_where_it_is_declared():
    with pytest.raises(gf.errors.MeasureError, match="nDCG of the catalogue"):
        gf.measures.define("ndcg")


def test_nothing_returned_is_told():
    @gf.measures.define("Forgetful", per_query=True)
    def forgetful(found):
        found.grade.sum()

    with pytest.raises(gf.errors.InputError, match="expected a number, found None"):
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, forgetful)


def test_a_report_has_a_baseline_for_a_formula():
    runs = {"one": {"q": {"b": 2, "a": 1}}, "two": {"q": {"a": 2, "b": 1}}}
    page = gf.report({"q": {"a": 2, "b": 1}}, runs, "nDCG@2 - nDCG@2(baseline)", resamples=9)
    one, two = page.payload()["scores"][0]
    assert one == [0]
    assert two[0] == pytest.approx(1 - gf.ndcg([1, 2]))


def test_the_command_line_says_whose_error_it_is(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "teams.py").write_text(
        "import gainful as gf\n"
        "odd = gf.measures.define('odd', discount=lambda rank: 1 if rank < 3 else 0)\n"
        "@gf.measures.define('Found', per_query=True)\n"
        "def found(one):\n    return float(one.grade.sum())\n"
    )
    done = cli("explain", "3,2,1", "--define", "teams:odd", "-m", "nDCG(discount=odd)")
    assert done.returncode == 2
    assert "discount odd, called with an array of ranks: ValueError" in done.stderr
    assert "bug" not in done.stderr
    (tmp_path / "gainful.toml").write_text('define = ["teams:found"]\nmeasures = ["Found"]\n')
    assert "Found" in cli("config").stdout
    assert "expected a file that you trust" in cli("measures", "Found").stderr
    assert cli("--trust", "measures", "Found").stdout.startswith("Found: a user-defined measure")


def test_a_path_in_the_place_of_a_module_is_told_how_to_write_it(cli):
    done = cli("explain", "3,2,1", "--define", "./team.py:hit_all", "-m", "AP")
    assert done.returncode == 2
    assert "Write 'team:hit_all'" in done.stderr
