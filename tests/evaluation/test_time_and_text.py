"""Time-biased gain and U-measure: by hand, against literal formulas, cwl_eval and RBP, explained, and their table."""

import math
import random

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from cwl.ruler.measures.cwl_tbg import TBGCWLMetric
from cwl.ruler.ranking import Ranking

import gainful as gf
import literal_time_and_sessions as literal
from gainful.cli.commands import commands

FAMILIES = {family.name: family for family in gf.measures.families(needs="lengths")}
GAINS = {
    "linear": float,
    "exp2": lambda grade: 2**grade - 1,
    "binary": lambda grade: float(grade > 0),
}

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_examples_of_the_catalogue(family):
    example = family.example
    scores = gf.evaluate(example.judgments, example.run, example.measure, **example.tables)
    digits = len(example.value.partition(".")[2])
    assert f"{scores[example.measure]:.{digits}f}" == example.value
    working = example.working.replace("·", "*").replace("−", "-").replace("ln 2", "ln2")
    worked = eval(working, {"exp": math.exp, "ln2": math.log(2)})  # noqa: S307
    assert worked == pytest.approx(scores[example.measure])


def random_case(seed):
    rng = random.Random(seed)  # noqa: S311
    pool = [f"d{n}" for n in range(30)]
    judgments, run = {}, {}
    for query in ("q1", "q2", "q3"):
        judgments[query] = {doc: rng.choice((-1, 0, 0, 1, 2)) for doc in rng.sample(pool, 12)}
        run[query] = rng.sample(pool, rng.randint(1, 25))
    known = rng.sample(pool, 25)
    lengths = {
        doc: {"words": rng.randint(0, 3000), "characters": rng.randint(0, 30000)} for doc in known
    }
    for doc, other in zip(rng.sample(known, 6), rng.sample(pool, 6), strict=True):
        lengths[doc]["duplicate_of"] = other
    return rng, judgments, run, lengths


def random_measures(rng):
    cutoff = rng.choice((None, 1, 5, 20))
    time = {
        "h": rng.choice((224, 30)),
        "rel": rng.choice((1, 2)),
        "click": rng.choice((0.64, 1)),
        "click_other": rng.choice((0.39, 0)),
        "save": rng.choice((0.77, 1)),
        "summary": rng.choice((4.4, 0)),
        "word": rng.choice((0.018, 0.1)),
        "opening": rng.choice((7.8, 0)),
        "words": rng.choice((500, 100)),
    }
    text = {
        "gain": rng.choice(list(GAINS)),
        "L": rng.choice((132000, 9000)),
        "snippet": rng.choice((200, 0)),
        "read": rng.choice((0.2, 1)),
        "characters": rng.choice((3000, 500)),
    }
    return (gf.Measure("TBG", k=cutoff, **time), {"k": cutoff, **time}), (
        gf.Measure("U", k=cutoff, **text),
        {"k": cutoff, **text},
    )


@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_the_literal_formulas(seed):
    rng, judgments, run, lengths = random_case(seed)
    (time, timed), (text, read) = random_measures(rng)
    read["gain"] = GAINS[read["gain"]]
    words, characters = (
        {doc: row[unit] for doc, row in lengths.items()} for unit in ("words", "characters")
    )
    pairs = [(doc, row["duplicate_of"]) for doc, row in lengths.items() if "duplicate_of" in row]
    same = literal.duplicates(pairs)
    found = gf.evaluate(judgments, run, [time, text], lengths=lengths).per_query.to_dict()
    for query, docs in run.items():
        grades = judgments[query]
        assert found[query] == pytest.approx(
            {
                str(time): literal.time_biased_gain(docs, grades, words, same, **timed),
                str(text): literal.u_measure(docs, grades, characters, same, **read),
            }
        )


@pytest.mark.parametrize("seed", range(10))
def test_explanations_add_up(seed):
    rng, judgments, run, lengths = random_case(seed)
    for measure, _ in random_measures(rng):
        values = gf.evaluate(judgments, run, measure, lengths=lengths).per_query.to_dict()
        worked = gf.explain(judgments, run, measure, query="q2", lengths=lengths)
        (part,) = worked.parts
        assert worked.value == values["q2"][str(measure)]
        assert part.total == pytest.approx(worked.value)
        assert sum(step.gain * step.discount for step in part.steps) == pytest.approx(worked.value)
        assert [step.doc for step in part.steps] == run["q2"][: len(part.steps)]
        assert f"{measure} = " in worked.conclusion


def test_an_explanation_says_when_and_what_is_skipped():
    judgments, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
    lengths = {"a": {"words": 100}, "x": {"words": 1, "duplicate_of": "a"}, "b": {"words": 0}}
    said = gf.explain(judgments, run, "TBG", query="q", lengths=lengths)
    seconds = 4.4 + 0.64 * (1.8 + 7.8)  # of the first document alone
    assert (
        f"(seconds at each rank: 0, {seconds:.3f}, {seconds:.3f}; skipped as repeated: x)"
        in str(said).replace("\n  ", " ")
    )
    with pytest.raises(gf.errors.MeasureError, match="which needs lengths"):
        gf.explain(judgments, run, "TBG", query="q", lengths=lengths, what_if="swap 1,2")


def test_tbg_is_the_rate_of_cwl_eval_times_all_attention():
    """The weights of cwl_eval's TBG add up to 1; those of the paper are not normalised."""
    tbg = TBGCWLMetric(224)
    _, judgments, run, lengths = random_case(1)
    lengths = {doc: {"words": row["words"]} for doc, row in lengths.items()}
    found = gf.evaluate(judgments, run, "TBG", lengths=lengths).per_query.to_dict()
    for query, docs in run.items():
        relevant = [judgments[query].get(doc, 0) >= 1 for doc in docs]
        words = [lengths.get(doc, {"words": 500})["words"] for doc in docs]
        costs = [
            4.4 + (0.64 if good else 0.39) * (0.018 * length + 7.8)
            for good, length in zip(relevant, words, strict=True)
        ]
        gains = np.array([0.64 * 0.77 * good for good in relevant])
        ranking = Ranking(query, gains, np.array(costs), max_cost=10.0, max_n=len(docs))
        rate = tbg.measure(ranking)
        left = 2.0 ** (-np.concatenate(([0.0], np.cumsum(costs)[:-1])) / 224)
        assert found[query]["TBG"] == pytest.approx(rate * left.sum(), rel=1e-9)


def test_tbg_is_rbp_if_all_documents_take_the_same_time():
    judgments = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    run = {"q": ["x", "a", "d", "b", "c"]}
    measure = gf.Measure("TBG", h=10, click=1, click_other=1, save=1, summary=5, word=0, opening=0)
    p = 0.5 ** (5 / 10)
    rbp = gf.evaluate(judgments, run, gf.Measure("RBP", p=p))
    assert gf.evaluate(judgments, run, measure)[measure] == pytest.approx(
        rbp.means[f"RBP(p={p!r})"] / (1 - p)
    )


def test_no_text_and_no_limit_make_u_the_cumulated_gain():
    _, judgments, run, lengths = random_case(3)
    scores = gf.evaluate(
        judgments, run, ["U(snippet=0, read=0)@5", "CG@5"], policy={"negative": "zero"}
    )
    assert scores["U(snippet=0, read=0)@5"] == pytest.approx(scores["CG@5"])
    assert gf.evaluate(judgments, run, "U(L=1)", lengths=lengths)["U(L=1)"] == 0.0


@pytest.mark.parametrize("name", FAMILIES)
def test_a_relevant_document_first_is_better_and_long_documents_above_cost(name):
    judgments = {"q": {"good": 1, "also": 1}}

    def value(order, long=500):
        lengths = {doc: {"words": long, "characters": 6 * long} for doc in ("other", "also")}
        return gf.evaluate(judgments, {"q": order}, name, lengths=lengths)[name]

    assert value(["good", "other"]) > value(["other", "good"])
    assert value(["also", "good"]) > value(["also", "good"], long=5000)


def test_duplicates_cost_and_gain_nothing():
    judgments = {"q": {"a": 1, "copy": 1, "b": 1}}
    lengths = [
        {"docno": "a", "words": 700, "characters": 4000, "duplicate_of": None},
        {"docno": "copy", "words": 900, "characters": 5000, "duplicate_of": "a"},
    ]
    measures = ["TBG", "U"]
    without = gf.evaluate(judgments, {"q": ["a", "b"]}, measures, lengths=lengths)
    repeated = gf.evaluate(judgments, {"q": ["a", "copy", "b"]}, measures, lengths=lengths)
    first = gf.evaluate(judgments, {"q": ["copy", "a", "b"]}, measures, lengths=lengths)
    assert repeated.means == without.means
    assert first.means != without.means  # the longer one is read


def test_the_table_in_every_form(files):
    judgments, run = {"q": {"a": 1, "b": 1}}, {"q": ["b", "a"]}
    expected = gf.evaluate(judgments, run, "TBG", lengths={"b": {"words": 900}})["TBG"]
    table = files("lengths.csv", "doc_id,word_count\nb,900\na,\n")
    frame = pd.DataFrame({"docno": ["b"], "words": [900]})
    for lengths in ({"b": 900}, {"b": {"length": 900}}, str(table), frame):
        assert gf.evaluate(judgments, run, "TBG", lengths=lengths)["TBG"] == expected
    assert gf.evaluate(judgments, run, "TBG")["TBG"] != expected
    qrels = files("q.qrels", "q 0 a 1\nq 0 b 1\n")
    listed = files("r.run", "q Q0 b 1 2 t\nq Q0 a 2 1 t\n")
    command = ["evaluate", qrels, listed, "-m", "TBG", "--lengths", table, "-f", "csv"]
    printed = CliRunner().invoke(commands, [*map(str, command)]).output
    assert f"r,{expected}" in printed


def test_a_table_that_lacks_something_is_named():
    judgments, run = {"q": {"a": 1}}, {"q": ["b", "a"]}

    def refused(measures, lengths, match, **options):
        with pytest.raises(gf.errors.InputError, match=match):
            gf.evaluate(judgments, run, measures, lengths=lengths, **options)

    refused(["TBG", "U"], {"a": 3}, "a column words, for TBG, found length only")
    refused("U", {"a": {"words": 3}}, "a column characters, for U, found words only")
    refused("U", {"a": {"size": 3}}, "found size")
    refused("U", {"a": -3}, "document 'a': expected a non-negative length, found -3")
    with pytest.raises(gf.errors.PolicyError, match="for measures of time and text"):
        gf.evaluate(judgments, run, "TBG", policy={"ties": "average"})
    with pytest.warns(
        gf.errors.GainfulWarning, match="1 retrieved document has no length.*500 words"
    ):
        gf.evaluate(judgments, run, "TBG", lengths={"a": 3})


def test_queries_that_the_run_lacks_score_0_and_runs_are_compared():
    judgments = {f"q{n}": {"a": 1} for n in range(8)}
    runs = {
        "late": {query: ["x", "a"] for query in judgments},
        "early": {query: ["a", "x"] for query in judgments if query != "q7"},
    }
    found = gf.compare(judgments, runs, "TBG")
    assert found.scores["early"].per_query.to_dict()["q7"]["TBG"] == 0.0
    page = gf.report(judgments, runs, "TBG", lengths={"a": 10}).payload()
    assert page["runs"][0]["means"][0] == pytest.approx(
        gf.evaluate(judgments, runs["late"], "TBG", lengths={"a": 10})["TBG"], abs=1e-4
    )
