"""UDCG, nugget recall and nAUC: by hand, against literal formulas, and against other tools' recorded values."""

import itertools
import json
import random

import numpy as np
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands

NEEDS = ("nuggets", "abstentions", "confidence")
FAMILIES = [family for needs in NEEDS for family in gf.measures.families(needs=needs)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_examples_of_the_catalogue(family):
    example = family.example
    scores = gf.evaluate(example.judgments, example.run, example.measure, **example.tables)
    digits = len(example.value.partition(".")[2])
    assert f"{scores[example.measure]:.{digits}f}" == example.value
    assert example.value in str(example)


# --- UDCG


# data/dataset_with_udcg.json of github.com/GiovanniTRA/UDCG: for each question, whether each passage is relevant, its
# no_res_prob for Llama-3.2-3B-Instruct, and the UDCG that the authors' code computed with the cost 0.333 of the README.
AUTHORS = {
    "What is the capital of France?": (
        [
            (True, 2.086162567138672e-06),
            (True, 1.341104507446289e-05),
            (False, 0.1318359375),
            (False, 0.1812744140625),
            (False, 0.02081298828125),
        ],
        0.5553808928170055,
    ),
    "Who wrote Romeo and Juliet?": (
        [
            (True, 5.960464477539063e-08),
            (True, 6.616115570068359e-06),
            (False, 0.00018215179443359375),
            (False, 0.006114959716796875),
            (False, 0.0093536376953125),
        ],
        0.5501411475208001,
    ),
    "What is the chemical symbol for gold?": (
        [
            (True, 3.0100345611572266e-05),
            (False, 0.00010311603546142578),
            (False, 0.007602691650390625),
            (False, 0.01299285888671875),
            (False, 0.00013053417205810547),
        ],
        0.4837510250741193,
    ),
}


def test_udcg_is_what_its_authors_computed():
    docs = {q: [f"doc_{n}" for n, _ in enumerate(rows)] for q, (rows, _) in AUTHORS.items()}
    judgments = {
        q: {doc: int(relevant) for doc, (relevant, _) in zip(docs[q], rows, strict=True)}
        for q, (rows, _) in AUTHORS.items()
    }
    abstentions = {
        q: {doc: p for doc, (_, p) in zip(docs[q], rows, strict=True)}
        for q, (rows, _) in AUTHORS.items()
    }
    scores = gf.evaluate(judgments, docs, "UDCG(cost=0.333)", abstentions=abstentions)
    for query, row in scores.per_query.to_dict().items():
        assert row["UDCG(cost=0.333)"] == pytest.approx(AUTHORS[query][1], rel=1e-14)


def test_udcg_by_hand():
    judgments = {"q": {"a": 2, "b": 1}, "lost": {"a": 1}, "none": {"a": 0}}
    run = {"q": ["b", "x", "a"], "none": ["a"]}
    abstentions = {"q": {"a": 0.1, "b": 0.5, "x": 0.4}, "none": {"a": 0.25}}
    scores = gf.evaluate(
        judgments, run, ["UDCG", "UDCG@2", "UDCG(rel=2)", "UDCG(cost=1)@2"], abstentions=abstentions
    )
    found = scores.per_query.to_dict()

    def sigmoid(u):
        return 1 / (1 + np.exp(-u))

    assert found["q"] == pytest.approx(
        {
            "UDCG": sigmoid((0.5 - 0.6 / 3 + 0.9) / 3),
            "UDCG@2": sigmoid((0.5 - 0.6 / 3) / 2),
            "UDCG(rel=2)": sigmoid((-0.5 / 3 - 0.6 / 3 + 0.9) / 3),
            "UDCG(cost=1)@2": sigmoid((0.5 - 0.6) / 2),
        }
    )
    assert found["none"]["UDCG"] == pytest.approx(sigmoid(-0.25))
    assert found["lost"]["UDCG"] == 0.0


def test_udcg_is_explained_by_passage():
    judgments, run = {"q": {"a": 1, "b": 0, "d": 1}}, {"q": ["b", "x", "a", "d"], "r": ["a"]}
    probabilities = {"q": {"a": 0.1, "b": 0.5, "x": 0.4, "d": 0.9}}
    explained = gf.explain(judgments, run, "UDCG@3", query="q", abstentions=probabilities)
    (part,) = explained.to_dict()["parts"].values()
    assert (part["gain"], part["discount"]) == ("w", "1 − p")
    assert [(step["doc"], step["grade"]) for step in part["steps"]] == [
        ("b", 0),
        ("x", None),
        ("a", 1),
    ]
    terms = [-0.5 / 3, -0.6 / 3, 0.9]
    assert [step["contribution"] for step in part["steps"]] == pytest.approx(terms)
    assert part["total"] == pytest.approx(sum(terms))
    assert explained.value == pytest.approx(1 / (1 + np.exp(-sum(terms) / 3)))
    assert explained.conclusion == (
        "UDCG@3 = 1 / (1 + exp(−sum / n)) = 1 / (1 + exp(−0.533 / 3)) = 0.544  "
        "(1 relevant passage, 2 that may distract)"
    )
    negative = gf.explain(judgments, run, "UDCG@1", query="q", abstentions=probabilities)
    assert "exp(−(-0.167) / 1)) = 0.458" in negative.conclusion


def test_udcg_of_an_empty_list_is_explained():
    explained = gf.explain(
        {"q": {"a": 1}}, {"q": [], "r": ["a"]}, "UDCG", query="q", abstentions={"q": {"a": 0.1}}
    )
    assert explained.conclusion == "UDCG = 0.000  (nothing was retrieved)"


def test_udcg_refuses_what_it_cannot_weigh():
    judgments, run = {"q": {"a": 1}}, {"q": ["a", "b"]}
    with pytest.raises(
        gf.errors.InputError, match=r"a probability for each passage .* none for 'b'"
    ):
        gf.evaluate(judgments, run, "UDCG@2", abstentions={"q": {"a": 0.5}})
    assert gf.evaluate(judgments, run, "UDCG@1", abstentions={"q": {"a": 0.5}})["UDCG@1"] > 0.5
    with pytest.raises(gf.errors.InputError, match=r"a probability from 0 to 1, found 1\.5"):
        gf.evaluate(judgments, run, "UDCG", abstentions={"q": {"a": 1.5}})
    with pytest.raises(gf.errors.InputError, match="the probabilities of abstention belong to"):
        gf.evaluate(judgments, run, "UDCG", abstentions={"q": {"a": 0.5}}, chunks="#")
    with pytest.raises(gf.errors.MeasureError, match="abstentions="):
        gf.evaluate(judgments, run, "UDCG")


# --- nuggets


def nuggetizer_scores(nuggets):
    """The four scores of nuggetizer, of (importance, assignment) pairs, word by word."""
    worth = {"support": 1, "partial_support": 0.5, "not_support": 0}
    found = {}
    for name, some in (("vital", [n for n in nuggets if n[0] == "vital"]), ("all", nuggets)):
        strict = sum(n[1] == "support" for n in some)
        found[f"strict_{name}_score"] = strict / len(some) if some else 0.0
        found[f"{name}_score"] = sum(worth[n[1]] for n in some) / len(some) if some else 0.0
    return found


@pytest.mark.parametrize("seed", range(20))
def test_nuggets_of_one_answer_have_the_scores_of_nuggetizer(seed):
    rng = random.Random(seed)  # noqa: S311
    assigned = {
        f"q{i}": [
            (
                rng.choice(["vital", "okay"]),
                rng.choice(["support", "partial_support", "not_support"]),
            )
            for _ in range(rng.randint(1, 6))
        ]
        for i in range(8)
    }
    rows = [
        {"qid": q, "nugget": n, "doc_id": "answer", "importance": one[0], "assignment": one[1]}
        for q, pairs in assigned.items()
        for n, one in enumerate(pairs)
    ]
    rng.shuffle(rows)
    judgments = {query: {"answer": 1} for query in assigned}
    names = ["strict_vital_score", "vital_score", "strict_all_score", "all_score"]
    scores = gf.evaluate(judgments, {q: ["answer"] for q in assigned}, names, nuggets=rows)
    for query, pairs in assigned.items():
        row = scores.per_query.to_dict()[query]
        expected = nuggetizer_scores(pairs)
        assert [*row.values()] == pytest.approx([expected[name] for name in names])
    assert [str(measure) for measure in scores.measures] == [
        "NuggetRecall",
        "NuggetRecall(partial=half)",
        "NuggetRecall(nuggets=all)",
        "NuggetRecall(nuggets=all, partial=half)",
    ]


def test_nuggets_of_a_list_take_the_best_support_down_to_the_cutoff():
    nuggets = {
        "q": {
            "x": {"a": ("vital", "support"), "b": ("vital", 0)},
            "y": {"b": ("vital", 0.5), "c": ("vital", True)},
            "z": {"c": ("okay", "Partial support")},
        }
    }
    measures = [
        f"NuggetRecall(nuggets={counting}, partial={partial})@{k}"
        for counting in ("vital", "all", "weighted")
        for partial in ("none", "half")
        for k in (1, 2, 3)
    ]
    scores = gf.evaluate({"q": {"a": 1}}, {"q": ["b", "a", "c"]}, measures, nuggets=nuggets)
    assert [*scores.means.values()] == pytest.approx(
        [
            *(0, 1 / 2, 1, 1 / 4, 3 / 4, 1),
            *(0, 1 / 3, 2 / 3, 1 / 6, 1 / 2, 5 / 6),
            *(0, 1 / 2.5, 2 / 2.5, 0.5 / 2.5, 1.5 / 2.5, 2.25 / 2.5),
        ]
    )


NUGGETS = {
    "q": {
        "x": {"a": ("vital", "support"), "b": ("vital", "partial_support")},
        "y": {"b": ("vital", "partial_support")},
        "z": {"c": ("okay", "support")},
        "none": {"a": ("okay", "not_support")},
    }
}


@pytest.mark.parametrize(
    ("measure", "rows", "working"),
    [
        (
            "NuggetRecall@2",
            [
                ("x", "vital", "support", 2, "a", 1, 1),
                ("y", "vital", "partial_support", 1, "b", 0, 1),
                ("z", "okay", "not_support", None, None, 0, 0),
                ("none", "okay", "not_support", None, None, 0, 0),
            ],
            "sum / Σ w = 1 / 2 = 0.500",
        ),
        (
            "NuggetRecall(nuggets=weighted, partial=half)",
            [
                ("x", "vital", "support", 2, "a", 1, 1),
                ("y", "vital", "partial_support", 1, "b", 0.5, 1),
                ("z", "okay", "support", 3, "c", 1, 0.5),
                ("none", "okay", "not_support", None, None, 0, 0.5),
            ],
            "sum / Σ w = 2 / 3 = 0.667",
        ),
    ],
)
def test_nugget_recall_is_explained_by_nugget(measure, rows, working):
    judgments, run = {"q": {"a": 1}}, {"q": ["b", "a", "c"]}
    explained = gf.explain(judgments, run, measure, query="q", nuggets=NUGGETS)
    (part,) = explained.to_dict()["parts"].values()
    names = ("nugget", "importance", "support", "rank", "doc", "gain", "discount")
    assert [tuple(step[name] for name in names) for step in part["steps"]] == rows
    assert part["total"] == sum(gain * weight for *_, gain, weight in rows)
    assert explained.conclusion == f"{measure} = {working}"
    assert explained.value == gf.evaluate(judgments, run, measure, nuggets=NUGGETS)[measure]
    assert "nugget" in str(explained)
    listed = explained.table().columns_by_name()
    assert [*listed["support"], *listed["rank"]] == [
        *(row[2] for row in rows), None, *(row[3] for row in rows), None,
    ]  # fmt: skip


def test_nugget_recall_without_nuggets_that_count_is_explained():
    okay = {"q": {"x": {"a": ("okay", "support")}}}
    explained = gf.explain({"q": {"a": 1}}, {"q": ["a"]}, "NuggetRecall", query="q", nuggets=okay)
    assert explained.value == 0
    assert "policy empty=zero" in explained.conclusion


@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.parametrize("measure", ["UDCG@1", "NuggetRecall@1"])
def test_measures_for_a_model_need_an_order_of_tied_documents(measure, ties):
    judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    tables = {"nuggets": NUGGETS, "abstentions": {"q": {"a": 0.1, "b": 0.9}}}
    with pytest.raises(gf.errors.PolicyError, match=f"policy ties: expected .* found '{ties}'"):
        gf.evaluate(judgments, run, measure, policy={"ties": ties}, **tables)
    by_id, ascending = (
        gf.evaluate(judgments, run, measure, policy={"ties": order}, **tables)[measure]
        for order in ("doc", "doc_ascending")
    )
    assert by_id < ascending  # b, which is worth less, is first


def test_nuggets_refuse_a_policy_on_unjudged_documents():
    with pytest.raises(gf.errors.PolicyError, match="policy unjudged: expected zero for nuggets"):
        gf.evaluate(
            {"q": {"a": 1}}, {"q": ["b", "a"]}, "NuggetRecall@1", nuggets=NUGGETS,
            policy={"unjudged": "condense"},
        )  # fmt: skip


def test_queries_without_nuggets_that_count():
    nuggets = {
        "q1": {"x": {"a": ("vital", 1)}},
        "q2": {"x": {"a": ("okay", 1)}},
        "q3": {"x": {}},
    }
    judgments = {query: {"a": 1} for query in ("q1", "q2", "q3", "q4")}
    run = {query: ["a"] for query in judgments}
    scores = gf.evaluate(judgments, run, "NuggetRecall", nuggets=nuggets)
    found = {query: row["NuggetRecall"] for query, row in scores.per_query.to_dict().items()}
    assert found == {"q1": 1.0, "q2": 0.0, "q3": 0.0}  # q4 has no nuggets, and doesn't count
    skipped = gf.evaluate(judgments, run, "NuggetRecall", nuggets=nuggets, policy={"empty": "skip"})
    assert skipped["NuggetRecall"] == 0.5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"support": "some"}, "support, partial_support or not_support"),
        ({"support": 2}, "found '2'"),
        ({"support": None}, "found nothing"),
        ({"importance": "high"}, "vital or okay as importance, found 'high'"),
        ({"importance": "okay"}, "the same importance in every row"),
    ],
)
def test_odd_nuggets_are_located(row, message):
    usual = {"query": "q", "nugget": "x", "doc": "a", "importance": "vital", "support": "support"}
    rows = [usual, usual | {"doc": "b"} | row]
    with pytest.raises(gf.errors.InputError, match=message) as error:
        gf.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "NuggetRecall", nuggets=rows)
    assert "record 2, query 'q', nugget 'x'" in str(error.value)


# --- abstention


def literal_area(confidence, values):
    """The normalised area under the curve of abstention, from its definition, with sums instead of integrals."""

    def area(keys):
        order = sorted(range(len(values)), key=lambda place: keys[place])  # stable
        curve = []
        for tenth in range(10):
            left_out = min(
                round(float(np.linspace(0, 1, 11)[tenth]) * len(values)), len(values) - 1
            )
            kept = [values[place] for place in order[left_out:]]
            curve.append(sum(kept) / len(kept))
        return sum((one + other) / 2 * 0.1 for one, other in itertools.pairwise(curve))

    flat = 0.9 * sum(values) / len(values)
    return (area(confidence) - flat) / (area(values) - flat)


@pytest.mark.parametrize("seed", range(20))
def test_abstention_has_the_literal_area(seed):
    rng = random.Random(seed)  # noqa: S311
    count = rng.randint(2, 40)
    queries = [f"q{i:02}" for i in range(count)]
    judgments = {q: {"a": 1, "b": 2} for q in queries}
    run = {q: dict.fromkeys(rng.sample("abcdef", 4), 0) for q in queries}
    for docs in run.values():
        for doc in docs:
            docs[doc] = rng.randint(0, 9) / 2
    run[queries[0]] = {"a": 0.5, "b": 2.0}
    run[queries[1]] = {"z": 3.0}
    per_query = gf.evaluate(judgments, run, "nDCG@3").per_query.to_dict()
    values = [per_query[q]["nDCG@3"] for q in queries]
    given = {q: rng.randint(0, 5) for q in queries}
    ordered = {q: sorted(docs.values(), reverse=True) for q, docs in run.items()}
    ways = {
        "max": {q: scores[0] for q, scores in ordered.items()},
        "std": {q: float(np.std(scores)) for q, scores in ordered.items()},
        "diff1": {q: s[0] - s[1] if len(s) > 1 else 0.0 for q, s in ordered.items()},
    }
    for confidence, known in ((given, given), *ways.items()):
        scores = gf.evaluate(judgments, run, "nAUC(nDCG@3)", confidence=confidence)
        expected = literal_area([known[q] for q in queries], values)
        assert scores["nAUC(nDCG@3)"] == pytest.approx(expected, abs=1e-12)
        assert "nAUC(nDCG@3)" not in scores.per_query.columns


def test_abstention_leaves_out_queries_without_confidence():
    judgments = {q: {"a": 1} for q in ("q1", "q2", "q3")}
    run = {"q1": ["a"], "q2": ["b", "a"], "q3": ["b"]}
    sure = {"q1": 0.9, "q2": 0.1}
    with_all = gf.evaluate(judgments, run, "nAUC(RR)", confidence=sure)
    alone = gf.evaluate(
        {q: judgments[q] for q in sure}, {q: run[q] for q in sure}, "nAUC(RR)", confidence=sure
    )
    assert with_all["nAUC(RR)"] == alone["nAUC(RR)"] == pytest.approx(1.0)


def test_abstention_needs_confidence_and_differences():
    judgments, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["a"]}
    with pytest.raises(gf.errors.MeasureError, match="confidence="):
        gf.evaluate(judgments, run, "nAUC(RR)")
    with pytest.raises(
        gf.errors.InputError, match="queries with different values of RR, found 1 for"
    ):
        gf.evaluate(judgments, run, "nAUC(RR)", confidence={"q1": 1, "q2": 2})
    with pytest.raises(gf.errors.InputError, match="the confidence of judged queries"):
        gf.evaluate(judgments, run, "nAUC(RR)", confidence={"q9": 1})
    with pytest.raises(gf.errors.MeasureError, match=r"nAUC\(nDCG@10\)"):
        gf.measure("nAUC")


# --- everywhere

JUDGMENTS = {f"q{i}": {"a": 1, "b": 0, "c": 1} for i in range(12)}
OLD = {q: {"b": 3.0, "a": 1.0 + i / 10} for i, q in enumerate(JUDGMENTS)}
NEW = {q: {"a": 3.0 + i / 10, "c": 1.0} for i, q in enumerate(JUDGMENTS)}
OLD["q3"] = {"a": 5.0}
NEW["q4"] = {"b": 0.0}
TABLES = {
    "nuggets": {q: {"x": {"a": 1}, "y": {"c": 0.5}} for q in JUDGMENTS},
    "abstentions": {q: {"a": 0.1, "b": 0.2, "c": 0.3} for q in JUDGMENTS},
    "confidence": {q: i for i, q in enumerate(JUDGMENTS)},
}


@pytest.mark.parametrize("measure", ["UDCG@2", "NuggetRecall(partial=half)@2"])
def test_measures_for_a_model_work_everywhere(measure):
    found = gf.compare(JUDGMENTS, {"old": OLD, "new": NEW}, [measure, "nDCG@10"], **TABLES)
    assert found["new", measure].difference > 0
    assert found.verdicts[0].startswith(f"{measure}: new is better than old")
    assert found.gate(f"{measure} >= 0.1").checked
    explained = gf.explain(JUDGMENTS, NEW, measure, query="q5", **TABLES)
    assert (
        explained.value
        == gf.evaluate(JUDGMENTS, NEW, measure, **TABLES).per_query.to_dict()["q5"][measure]
    )
    page = gf.report(JUDGMENTS, {"old": OLD, "new": NEW}, [measure, "nAUC(RR)"], **TABLES).payload()
    assert measure in json.dumps(page)
    one = gf.evaluate(JUDGMENTS, NEW, measure, **TABLES)
    changed = {"abstentions": {q: dict.fromkeys("abc", 0.5) for q in JUDGMENTS}, "nuggets": {}}
    changed["nuggets"] = {q: {"x": {"a": 0}} for q in JUDGMENTS}
    other = gf.evaluate(JUDGMENTS, NEW, measure, **changed)
    assert "tables=" in one.signature(measure)
    assert one.signature(measure) != other.signature(measure)


def test_measures_for_a_model_on_the_command_line(files):
    qrels = "".join(f"{q} 0 {d} {g}\n" for q, docs in JUDGMENTS.items() for d, g in docs.items())
    run = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, docs in NEW.items() for d, s in docs.items())
    nuggets = "query,nugget,doc,importance,support\n" + "".join(
        f"{q},x,a,vital,support\n{q},y,c,okay,partial_support\n" for q in JUDGMENTS
    )
    abstentions = "qid\tdoc_id\tno_res_prob\n" + "".join(f"{q}\ta\t0.1\n" for q in JUDGMENTS)
    arguments = ["evaluate", files("a.qrels", qrels), files("a.run", run), "-f", "csv"]
    arguments += ["--nuggets", files("n.csv", nuggets), "-m", "NuggetRecall@1"]
    arguments += ["--abstentions", files("p.tsv", abstentions + "q4\tb\t0.9\n"), "-m", "UDCG@1"]
    arguments += ["--confidence", "max", "-m", "nAUC(RR)"]
    done = CliRunner().invoke(commands, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    values = [line.split(",")[-1] for line in done.output.splitlines()]
    expected = gf.evaluate(
        JUDGMENTS,
        NEW,
        ["NuggetRecall@1", "UDCG@1", "nAUC(RR)"],
        nuggets={q: {"x": {"a": 1}} for q in JUDGMENTS},
        abstentions={q: {"a": 0.1, "b": 0.9} for q in JUDGMENTS},
        confidence="max",
    )
    assert all(f"{value:.4g}"[:5] in done.output for value in expected.means.values()), values


def test_an_empty_list_may_be_right():
    judgments = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 0}, "q4": {"a": 0}, "q5": {"a": 1}}
    run = {"q1": ["a"], "q2": [], "q3": ["b"], "q5": []}
    measures = ["nDCG@10", "R@5", "P@5"]
    scores = gf.evaluate(judgments, run, measures, policy={"empty": "abstain"})
    values = {query: [*row.values()] for query, row in scores.per_query.to_dict().items()}
    assert values == {
        "q1": [1, 1, 0.2],
        "q2": [1, 1, 0],  # P is defined for such a query
        "q3": [0, 0, 0],
        "q4": [1, 1, 0],  # missing from the run
        "q5": [0, 0, 0],
    }
    assert "scored 1 if nothing was retrieved, else 0" in str(scores)
    left_out = gf.evaluate(
        judgments, run, "nDCG@10", policy={"empty": "abstain", "missing": "skip"}
    )
    assert left_out["nDCG@10"] == 2 / 4
    formula = gf.evaluate(judgments, run, "0.5*nDCG@10 + 0.5*R@5", policy={"empty": "abstain"})
    assert [*formula.means.values()] == [3 / 5]
    assert gf.explain(judgments, run, "nDCG@10", query="q3", policy={"empty": "abstain"}).value == 0
    with pytest.raises(gf.errors.PolicyError, match="'abstain'"):
        gf.pool({"mine": run}, judgments=judgments, order="priority", policy={"empty": "abstain"})
