"""Measures of sessions: by hand, against literal formulas and all lists, explained, and their table."""

import math
import random

import pandas as pd
import pytest
from click.testing import CliRunner

import gainful as gf
import literal_time_and_sessions as literal
from gainful.cli.commands import commands

FAMILIES = {family.name: family for family in gf.measures.families(needs="sessions")}

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_examples_of_the_catalogue(family):
    example = family.example
    scores = gf.evaluate(example.judgments, example.run, example.measure, **example.tables)
    digits = len(example.value.partition(".")[2])
    assert f"{scores[example.measure]:.{digits}f}" == example.value
    working = example.working.replace("·", "*").replace("−", "-")
    for written, value in (("log2 3", math.log2(3)), ("log4 2", 0.5)):
        working = working.replace(written, str(value))
    assert eval(working) == pytest.approx(scores[example.measure])  # noqa: S307


def random_case(seed, pool=12, longest=8):
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{n}" for n in range(pool)]
    judgments, run, sessions = {}, {}, {}
    for session in ("s1", "s2", "s3"):
        sessions[session] = [f"{session}-{n}" for n in range(rng.randint(1, 4))]
        for query in sessions[session]:
            some = rng.sample(docs, min(pool, rng.randint(2, longest)))
            judgments[query] = {doc: rng.choice((0, 0, 1, 2, 3)) for doc in some}
            run[query] = rng.sample(docs, rng.randint(1, min(pool, longest)))
    lost = rng.choice(list(run))
    del run[lost]
    return rng, judgments, run, sessions


def session_lists(judgments, run, queries):
    return [(run.get(query, []), judgments[query]) for query in queries]


@pytest.mark.parametrize("seed", range(30))
def test_values_are_those_of_the_literal_formulas(seed):
    rng, judgments, run, sessions = random_case(seed)
    k = rng.choice((None, 1, 3, 10))
    repeats = rng.choice(("count", "once"))
    gains = {
        "gain": rng.choice(("linear", "exp2", "binary")),
        "discount": rng.choice(("log", "jarvelin")),
        "base": rng.choice((2, 3)),
        "bq": rng.choice((4, 2)),
        "repeats": repeats,
    }
    steps = {"p": rng.choice((0.8, 0.5)), "b": rng.choice((0.8, 0.3, 1, 0)), "repeats": repeats}
    scale = rng.choice(("none", 4, "query"))
    summed = gf.Measure("session_DCG", k=k, **gains)
    biased = gf.Measure("session_RBP", k=k, **steps, max=scale)
    found = gf.evaluate(judgments, run, [summed, biased], sessions=sessions).per_query.to_dict()

    def worth(grade, grades):
        if grade is None:
            return 0.0
        highest = max([1, *grades.values()]) if scale == "query" else scale
        return float(grade >= 1) if scale == "none" else grade / highest

    for queries in sessions.values():
        lists = session_lists(judgments, run, queries)
        assert found[queries[-1]] == pytest.approx(
            {
                str(summed): literal.session_dcg(lists, k=k, **gains),
                str(biased): literal.session_rbp(lists, k=k, worth=worth, **steps),
            }
        )
        assert not {*queries[:-1]} & found.keys()  # only the last query has a value


@pytest.mark.parametrize("repeats", ["count", "once"])
@pytest.mark.parametrize("seed", range(8))
def test_the_ideal_is_the_best_of_all_lists(seed, repeats):
    _, judgments, run, sessions = random_case(seed, pool=3, longest=3)
    settings = {"gain": "linear", "discount": "log", "base": 2, "bq": 4, "repeats": repeats, "k": 2}
    measures = [gf.Measure(name, **settings) for name in ("session_DCG", "session_nDCG")]
    found = gf.evaluate(judgments, run, measures, sessions=sessions).per_query.to_dict()
    for queries in sessions.values():
        lists = session_lists(judgments, run, queries[:3])
        if len(queries) > 3:
            continue
        ideal = literal.best_session_dcg(lists, **settings)
        value, normalised = found[queries[-1]].values()
        assert normalised == pytest.approx(value / ideal if ideal else 0.0)


def test_one_query_is_its_own_session():
    _, judgments, run, _ = random_case(5)
    sessions = {query: [query] for query in judgments}
    measures = [
        "DCG@5",
        "session_DCG@5",
        "nDCG@5",
        "session_nDCG@5",
        "session_nDCG(repeats=once)@5",
    ]
    measures += ["RBP@5", "session_RBP(b=1)@5"]
    means = [*gf.evaluate(judgments, run, measures, sessions=sessions).means.values()]
    assert means[1] == pytest.approx(means[0])
    assert means[3] == pytest.approx(means[2])
    assert means[4] == pytest.approx(means[2])
    assert means[6] == pytest.approx(means[5])


def test_a_document_that_was_shown_before():
    judgments = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}}
    run = {"q1": ["a", "b"], "q2": ["a", "b"]}
    sessions = {"s": ["q1", "q2"]}

    def value(measure):
        return gf.evaluate(judgments, run, measure, sessions=sessions)[measure]

    first = 1 + 1 / math.log2(3)
    assert value("session_DCG") == pytest.approx(first * (1 + 1 / 1.5))
    assert value("session_DCG(repeats=once)") == pytest.approx(first)
    assert value("session_nDCG") == 1.0
    # Showing b at the top of the second list would have been better: 1/1.5 against 1/log2 3.
    assert value("session_nDCG(repeats=once)") == pytest.approx(first / (1 + 1 / 1.5))
    assert value("session_RBP(repeats=once)") < value("session_RBP")


def test_later_queries_count_less_and_all_weights_of_rbp_add_up_to_1():
    judgments = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    sessions = {"s": ["q1", "q2", "q3"]}
    for measure in FAMILIES:
        values = [
            gf.evaluate(judgments, {query: ["a"]}, measure, sessions=sessions)[measure]
            for query in judgments
        ]
        assert values == sorted(values, reverse=True)
        assert values[0] > values[2] > 0
    docs = [f"d{n}" for n in range(150)]
    queries = [f"q{n:03}" for n in range(150)]
    everything = {query: dict.fromkeys(docs, 1) for query in queries}
    found = gf.evaluate(
        everything, dict.fromkeys(queries, docs), "session_RBP", sessions={"s": queries}
    )
    assert found["session_RBP"] == pytest.approx(1.0)


@pytest.mark.parametrize("name", FAMILIES)
def test_explanations_add_up(name):
    _, judgments, run, sessions = random_case(9)
    for measure in (f"{name}@4", f"{name}(repeats=once)@4"):
        values = gf.evaluate(judgments, run, measure, sessions=sessions).per_query.to_dict()
        for asked in (sessions["s2"][0], "s2"):
            worked = gf.explain(judgments, run, measure, query=asked, sessions=sessions)
            assert worked.value == values[sessions["s2"][-1]][measure]
            assert [part.name for part in worked.parts] == [f"query {q}" for q in sessions["s2"]]
            total = sum(step.contribution for part in worked.parts for step in part.steps)
            assert total == pytest.approx(sum(part.total for part in worked.parts))
            if name != "session_nDCG":
                assert total == pytest.approx(worked.value)
            assert "session s2" in worked.conclusion
    with pytest.raises(gf.errors.InputError, match="a query of a session"):
        gf.explain(judgments, run, name, query="nope", sessions=sessions)
    with pytest.raises(gf.errors.MeasureError, match="which needs sessions"):
        gf.explain(judgments, run, name, query="s2", sessions=sessions, what_if="swap 1,2")


def test_the_table_in_every_form(files):
    judgments, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["x", "a"], "q2": ["b"]}
    expected = gf.evaluate(judgments, run, "session_DCG", sessions={"s": ["q1", "q2"]})
    rows = [
        {"qid": "q2", "session_id": 7, "place": 2},
        {"qid": "q1", "session_id": 7, "place": 1},
    ]
    table = files("sessions.csv", "query_id,session,step\nq2,s,2\nq1,s,1\n")
    for sessions in ({"q1": "s", "q2": "s"}, rows, pd.DataFrame(rows), str(table)):
        found = gf.evaluate(judgments, run, "session_DCG", sessions=sessions)
        assert found.means == expected.means
    swapped = gf.evaluate(judgments, run, "session_DCG", sessions={"s": ["q2", "q1"]})
    assert swapped.means != expected.means
    qrels = files("q.qrels", "q1 0 a 1\nq2 0 b 1\n")
    listed = files("r.run", "q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 b 1 1 t\n")
    command = ["evaluate", qrels, listed, "-m", "nsDCG@5"]
    command += ["--sessions", table, "-f", "csv"]
    printed = CliRunner().invoke(commands, [*map(str, command)]).output
    value = gf.evaluate(judgments, run, "session_nDCG@5", sessions={"s": ["q1", "q2"]})
    assert f"r,{value['session_nDCG@5']}" in printed


def test_a_table_that_lacks_something_is_named():
    judgments, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["b"]}

    def refused(sessions, match, **options):
        with pytest.raises(gf.errors.GainfulError, match=match):
            gf.evaluate(judgments, run, "session_DCG", sessions=sessions, **options)

    refused(None, "sessions=…, or --sessions")
    refused([{"query": "q1", "group": "s"}], "a column session or session_id, found group")
    twice = [{"query": query, "session": "s", "place": 1} for query in judgments]
    refused(twice, "session 's': expected a place of its own for each query")
    refused([{"query": "q1", "session": None}], "query 'q1': expected a session, found nothing")
    refused({"s": ["x", "y"]}, "judged queries, for session_DCG, found none among 'x', 'y'")
    refused({"s": ["q1"]}, "for measures of sessions", policy={"ties": "best"})
    with pytest.warns(gf.errors.GainfulWarning, match="1 judged query belongs to no session: 'q2'"):
        gf.evaluate(judgments, run, "session_DCG", sessions={"s": ["q1"]})


def test_sessions_without_relevant_documents_follow_the_policy():
    judgments, run = {"q1": {"a": 0}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["b"]}
    sessions = {"s": ["q1"], "t": ["q2"]}
    found = gf.evaluate(judgments, run, "session_nDCG", sessions=sessions)
    assert found["session_nDCG"] == 0.5
    skipped = gf.evaluate(
        judgments, run, "session_nDCG", sessions=sessions, policy={"empty": "skip"}
    )
    assert skipped["session_nDCG"] == 1.0


def test_runs_are_compared_over_sessions():
    judgments = {f"q{n}": {"a": 1} for n in range(24)}
    sessions = {f"s{n}": [f"q{2 * n}", f"q{2 * n + 1}"] for n in range(12)}
    runs = {
        "late": {query: ["x", "a"] for query in judgments},
        "early": {query: ["a", "x"] for query in judgments},
    }
    found = gf.compare(judgments, runs, ["session_nDCG@5", "nDCG@5"], sessions=sessions)
    row = found["early", "session_nDCG@5"]
    assert row.difference == pytest.approx(1 - 1 / math.log2(3))
    assert found["early", "nDCG@5"].difference == pytest.approx(row.difference)
    counted = found.scores["early"].evidence.counting
    assert [*counted] == [12, 24]
