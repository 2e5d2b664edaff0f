"""Measures of evidence, against sets of positions, chunking_evaluation, and numbers worked by hand."""

import numpy as np
import pytest

import gainful as gf
import literal_evidence as literal

MEASURES = [
    "evidence_recall@3",
    "evidence_precision@3",
    "evidence_precision(overlap=every)@3",
    "evidence_IoU@3",
    "evidence_IoU(overlap=every)@3",
    "evidence_nDCG@3",
    "evidence_nDCG(ideal=chunks)@3",
    "evidence_groups@3",
    "evidence_groups(cover=0.5)@3",
    "evidence_complete(cover=0.5)",
    "evidence_complete_RR(cover=0.25)",
    "evidence_precision_omega",
    "evidence_precision_omega(overlap=every)",
]


def span_of(text):
    """Read a passage of an example: "d 0-10"."""
    doc, _, ends = text.partition(" ")
    start, end = map(int, ends.split("-"))
    return doc, start, end


@pytest.mark.parametrize("family", gf.measures.families(needs="evidence"), ids=lambda f: f.name)
def test_the_example_of_each_family(family):
    example = family.example
    spans, chunks, others = (
        [*map(span_of, texts)] for texts in (example.spans, example.chunks, example.others)
    )
    table = {f"c{at}": span for at, span in enumerate([*chunks, *others])}
    run = {"q": [f"c{at}" for at in range(len(chunks))]}
    scores = gf.evaluate(
        {"q": spans}, run, example.measure, chunk_table=table, offsets="characters"
    )
    digits = len(example.value.partition(".")[2])
    assert f"{scores[example.measure]:.{digits}f}" == example.value
    working = example.working.replace("−", "-")
    assert eval(working, {"log2": np.log2}) == pytest.approx(scores[example.measure])  # noqa: S307


def random_case(seed):
    """Make graded and grouped evidence, a table of overlapping chunks, and a list of chunks."""
    random = np.random.default_rng(seed)
    docs = ["d", "e", "f"][: random.integers(1, 4)]
    length, step = int(random.integers(8, 40)), int(random.integers(8, 40))
    table = {
        f"{doc}#{start}": (doc, start, start + length)
        for doc in docs
        for start in range(0, 120, step)
    }
    evidence = []
    for _ in range(random.integers(1, 6)):
        start = int(random.integers(0, 110))
        span = (str(random.choice(docs)), start, start + int(random.integers(1, 30)))
        evidence.append((int(random.integers(0, 4)), span, f"g{random.integers(0, 3)}"))
    evidence.append((1, ("d", 5, 12), "g9"))
    ids = random.permutation([*table])[: random.integers(1, 7)].tolist()
    return evidence, table, ids


CASES = {f"q{seed}": random_case(seed) for seed in range(60)}
JUDGED = {
    query: [
        {"document": doc, "start": start, "end": end, "grade": grade, "group": group}
        for grade, (doc, start, end), group in evidence
    ]
    for query, (evidence, _, _) in CASES.items()
}


def expected_of(evidence, table, ids):
    chunks, every = [table[one] for one in ids], [*table.values()]
    relevant = [span for grade, span, _ in evidence if grade >= 1]
    graded = [(grade, span) for grade, span, _ in evidence]
    groups = {}
    for grade, span, group in evidence:
        if grade >= 1:
            groups.setdefault(group, []).append(span)
    top = chunks[:3]
    complete = literal.rank_of_completeness(groups, chunks, 0.5) < np.inf
    return [
        literal.recall(relevant, top),
        literal.precision(relevant, top, "once"),
        literal.precision(relevant, top, "every"),
        literal.intersection_over_union(relevant, top, "once"),
        literal.intersection_over_union(relevant, top, "every"),
        literal.ndcg_of_evidence(graded, chunks, 3),
        literal.ndcg_of_chunks(graded, chunks, every, 3),
        literal.share_of_groups(groups, top, 1.0),
        literal.share_of_groups(groups, top, 0.5),
        float(complete),
        1 / literal.rank_of_completeness(groups, chunks, 0.25),
        literal.precision_omega(relevant, every, "once"),
        literal.precision_omega(relevant, every, "every"),
    ]


@pytest.mark.filterwarnings("ignore:document ids. no retrieved document is judged")
def test_every_measure_against_sets_of_positions():
    table = {
        f"{q} {one}": span for q, (_, chunks, _) in CASES.items() for one, span in chunks.items()
    }
    run = {query: [f"{query} {one}" for one in ids] for query, (_, _, ids) in CASES.items()}
    for query, (_, chunks, _) in CASES.items():
        own = {f"{query} {one}": span for one, span in chunks.items()}
        scores = gf.evaluate(
            {query: JUDGED[query]}, {query: run[query]}, MEASURES, chunk_table=own, offsets="tokens"
        )
        assert [*scores.means.values()] == pytest.approx(expected_of(*CASES[query])), query
    # All queries at once; only the measures that look at the whole table differ.
    several = gf.evaluate(JUDGED, run, MEASURES[:6], chunk_table=table, offsets="tokens")
    for query, case in CASES.items():
        values = [several.per_query.to_dict()[query][measure] for measure in MEASURES[:6]]
        assert values == pytest.approx(expected_of(*case)[:6]), query


# Values of BaseEvaluation._scores_from_dataset_and_retrievals and _full_precision_score of
# chunking_evaluation at commit d451fc4, for chunks of 60 characters that begin every 45, up to 600, in two
# documents: spans of evidence in document d, the document and the start of each retrieved chunk; recall,
# precision, IoU, and precision_Ω. No passage touches a chunk without overlapping it, and chunks contain them all.
RECORDED = [
    ([(172, 207), (233, 266)], "d135 d180 d225", 1, 0.377777777778, 0.377777777778, 0.453333333333),
    (
        [(200, 259), (286, 292)],
        "d180 d225",
        0.907692307692,
        0.491666666667,
        0.468253968254,
        0.433333333333,
    ),
    ([(55, 66), (81, 116)], "d0 d495 d90 d45", 1, 0.191666666667, 0.191666666667, 0.306666666667),
    (
        [(107, 152), (179, 192), (220, 226), (244, 288)],
        "d180 d225 d90 d135",
        0.972222222222,
        0.4375,
        0.432098765432,
        0.45,
    ),
    (
        [(26, 64), (78, 97), (108, 114), (130, 159)],
        "d0 d45 e450 e0",
        0.619565217391,
        0.2375,
        0.207272727273,
        0.471794871795,
    ),
    (
        [(138, 171), (186, 200)],
        "d180 e90 d135 e405 d90",
        1,
        0.156666666667,
        0.156666666667,
        0.313333333333,
    ),
    (
        [(96, 124), (134, 190)],
        "d90 d135 d45 e225 e135 d180",
        1,
        0.233333333333,
        0.233333333333,
        0.430769230769,
    ),
    ([(43, 74), (88, 138)], "e315 d135 d0 e450 d90 d45", 1, 0.225, 0.225, 0.415384615385),
    (
        [(171, 229), (254, 278), (301, 314), (323, 378)],
        "d135 d360 d270 d0",
        0.466666666667,
        0.291666666667,
        0.21875,
        0.526315789474,
    ),
    ([(144, 190), (214, 242)], "d180 d90", 0.567567567568, 0.35, 0.276315789474, 0.379487179487),
]


def test_chunking_evaluation_agrees():
    table = {
        f"{doc}{start}": (doc, start, start + 60) for doc in "de" for start in range(0, 600, 45)
    }
    judged = {f"q{at}": [("d", *span) for span in spans] for at, (spans, *_) in enumerate(RECORDED)}
    run = {f"q{at}": ids.split() for at, (_, ids, *_) in enumerate(RECORDED)}
    measures = [
        "evidence_recall",
        "evidence_precision(overlap=every)",
        "evidence_IoU(overlap=every)",
        "evidence_precision_omega",
    ]
    scores = gf.evaluate(judged, run, measures, chunk_table=table, offsets="characters")
    for row, values in zip(RECORDED, scores.per_query.to_dict().values(), strict=True):
        assert [*values.values()] == pytest.approx(row[2:], abs=1e-11)


@pytest.mark.parametrize(
    ("chunks", "recorded", "expected"),
    [
        ([(0, 10), (10, 20), (20, 30)], 10 / 30, 10 / 10),
        ([(0, 15), (30, 40)], 5 / 20, 5 / 15),
    ],
    ids=["chunks that touch the passage", "a part in no chunk"],
)
def test_where_precision_omega_differs_from_chunking_evaluation(chunks, recorded, expected):
    # `recorded` is the value of _full_precision_score, at the same commit.
    passage = {*range(10, 20)}
    touching = [{*range(*ends)} for ends in chunks if ends[0] <= 20 and ends[1] >= 10]
    text = set.union(*touching)
    assert len(text & passage) / len(text | passage) == pytest.approx(recorded)
    table = {f"c{at}": ("d", *ends) for at, ends in enumerate(chunks)}
    scores = gf.evaluate(
        {"q": [("d", 10, 20)]}, {"q": ["c0"]}, "evidence_precision_omega",
        chunk_table=table, offsets="characters",
    )  # fmt: skip
    assert scores["evidence_precision_omega"] == pytest.approx(expected)


def test_cutting_a_chunk_in_two_changes_no_recall():
    whole = {q: [table[one] for one in ids] for q, (_, table, ids) in CASES.items()}
    halves = {
        query: [
            (doc, *part)
            for doc, start, end in chunks
            for part in ((start, (start + end) // 2), ((start + end) // 2, end))
        ]
        for query, chunks in whole.items()
    }
    measures = ["evidence_recall", "evidence_precision", "evidence_IoU", "evidence_groups"]
    one, two = (
        gf.evaluate(JUDGED, run, measures, offsets="bytes").per_query.to_dict()
        for run in (whole, halves)
    )
    assert one == two


def test_only_ndcg_and_the_rank_of_completeness_depend_on_the_order():
    forwards = {q: [table[one] for one in ids] for q, (_, table, ids) in CASES.items()}
    backwards = {query: chunks[::-1] for query, chunks in forwards.items()}
    sets = [
        "evidence_recall",
        "evidence_precision(overlap=every)",
        "evidence_IoU",
        "evidence_complete",
    ]
    ordered = ["evidence_nDCG", "evidence_complete_RR(cover=0.1)"]
    one, two = (
        gf.evaluate(JUDGED, run, [*sets, *ordered], offsets="characters")
        for run in (forwards, backwards)
    )
    for measure in sets:
        assert one.per_query[measure] == two.per_query[measure]
    for measure in ordered:
        assert one[measure] != two[measure]


def test_equal_scores_are_ordered_like_documents_by_id_or_as_they_come():
    judged = {"q": [("d", 0, 10)]}
    first, second = ("d", 0, 10), ("d", 50, 60)
    table = {"a": first, "b": second}

    def rank(run, **more):
        scores = gf.evaluate(judged, run, "evidence_complete_RR", offsets="characters", **more)
        return 1 / scores["evidence_complete_RR"]

    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert rank(tied, chunk_table=table) == 2
    assert rank(tied, chunk_table=table, policy={"ties": "doc_ascending"}) == 1
    in_order = [
        {"document": doc, "start": start, "end": end, "score": 1}
        for doc, start, end in (second, first)
    ]
    assert rank({"q": in_order}) == 2
    assert rank({"q": in_order[::-1]}) == 1
    for ties in ("average", "best", "worst"):
        with pytest.raises(gf.errors.PolicyError, match=f"policy ties: .* found '{ties}'"):
            rank(tied, chunk_table=table, policy={"ties": ties})


def test_the_printed_policy_is_the_order_of_chunks_with_equal_scores():
    judged = {"q": [("d", 0, 10)]}
    chunks = [
        {"document": doc, "start": 0, "end": 10, "score": score}
        for doc, score in (("x", 2), ("d", 2), ("c", 2), ("d", 1), ("y", 1))
    ]
    chunks[3] |= {"start": 20, "end": 30}
    measures = ["evidence_complete_RR", "RR"]
    for policy in (None, {"ties": "order"}):
        scores = gf.evaluate(judged, {"q": chunks}, measures, offsets="characters", policy=policy)
        assert [*scores.means.values()] == [1 / 2, 1 / 2]
        assert scores.policy.ties == "order"
    for ties in ("doc", "doc_ascending"):
        with pytest.raises(gf.errors.PolicyError, match="order for chunks with equal scores") as e:
            gf.evaluate(
                judged, {"q": chunks}, measures, offsets="characters", policy={"ties": ties}
            )
        assert "query 'q', 2" in str(e.value)
    named = [chunk | {"id": name} for chunk, name in zip(chunks, "bacde", strict=True)]
    for ties, place in (("auto", 3), ("doc", 3), ("doc_ascending", 1), ("order", 2)):
        scores = gf.evaluate(
            judged, {"q": named}, measures, offsets="characters", policy={"ties": ties}
        )
        assert scores["evidence_complete_RR"] == 1 / place
    # Without scores, or with different ones, no order has to be chosen.
    plain = [{name: chunk[name] for name in ("document", "start", "end")} for chunk in chunks]
    assert gf.evaluate(judged, {"q": plain}, measures, offsets="characters").policy.ties == "doc"


def test_a_response_of_a_search_service_keeps_its_order_of_chunks_with_equal_scores():
    hits = [{"_id": one, "_score": 1.0} for one in ("a", "c", "b")]
    response = {"hits": {"hits": hits}}
    table = {"a": ("x", 0, 10), "b": ("y", 0, 10), "c": ("d", 0, 10)}
    scores = gf.evaluate(
        {"q": [("d", 0, 10)]}, {"q": response}, ["evidence_complete_RR", "RR"],
        chunk_table=table, offsets="characters",
    )  # fmt: skip
    assert [*scores.means.values()] == [1 / 2, 1 / 2]
    assert scores.policy.ties == "order"


def test_documents_count_by_their_best_chunk():
    judged = {"q": [{"document": "d", "start": 0, "end": 5, "grade": 2}, ("e", 0, 5)]}
    run = {"q": [("x", 0, 9), ("d", 20, 30), ("d", 0, 9), ("e", 0, 9)]}
    scores = gf.evaluate(judged, run, ["RR", "R@3", "DCG@2"], offsets="characters")
    assert [*scores.means.values()] == pytest.approx([1 / 2, 1.0, 2 / np.log2(3)])
    # A document without a passage is known to be not relevant.
    assert scores.coverage.unjudged == 0


def test_queries_without_evidence_missing_queries_and_grades_of_zero():
    judged = {
        "q": [("d", 0, 10)],
        "none": [],
        "zero": [{"document": "d", "start": 0, "end": 9, "grade": 0}],
        "lost": [("d", 0, 4)],
    }
    run = {query: [("d", 0, 5)] for query in ("q", "none", "zero")}
    scores = gf.evaluate(judged, run, "evidence_recall@1", offsets="characters")
    assert scores["evidence_recall@1"] == 0.5 / 4
    assert set(scores.coverage.empty) == {"none", "zero"}
    assert scores.coverage.missing == ("lost",)
    skipped = gf.evaluate(
        judged, run, "evidence_recall@1", offsets="characters", policy={"empty": "skip"}
    )
    assert skipped["evidence_recall@1"] == 0.25


def test_negative_grades_cost_and_a_policy_decides():
    judged = {"q": [("d", 0, 10), {"document": "d", "start": 10, "end": 20, "grade": -1}]}
    run = {"q": [("d", 0, 15)]}

    def value(**more):
        return gf.evaluate(judged, run, "evidence_nDCG@1", offsets="characters", **more)[
            "evidence_nDCG@1"
        ]

    assert value(policy={"negative": "keep"}) == 0.5
    assert value(policy={"negative": "zero"}) == 1.0
    with pytest.raises(gf.errors.InputError, match="no negative gain"):
        value(policy={"negative": "error"})


def test_whole_documents_of_which_all_or_any_are_needed():
    graded = {"q": {"a": 2, "b": 0, "c": 1}}
    run = {"q": ["c", "b"]}
    assert (
        gf.evaluate(graded, run, "evidence_recall", offsets="documents")["evidence_recall"] == 0.5
    )
    judged = {"q": [["a", "b"], ["c"]], "p": [["a"], ["b"]]}
    run = {"q": ["x", "b", "c"], "p": ["a", "x"]}
    scores = gf.evaluate(
        judged,
        run,
        ["evidence_complete@3", "evidence_groups@2", "evidence_recall"],
        offsets="documents",
    )
    assert scores.per_query.to_dict() == {
        "q": pytest.approx(
            {"evidence_complete@3": 1, "evidence_groups@2": 0.5, "evidence_recall": 2 / 3}
        ),
        "p": {"evidence_complete@3": 0, "evidence_groups@2": 0.5, "evidence_recall": 0.5},
    }


def test_two_chunkings_are_compared_by_question():
    judged = {query: JUDGED[query] for query in CASES}
    tables = {
        "small": {f"{doc}-{at}": (doc, at * 10, at * 10 + 10) for doc in "def" for at in range(15)},
        "large": {f"{doc}-{at}": (doc, at * 50, at * 50 + 50) for doc in "def" for at in range(3)},
    }
    runs = {
        name: {query: [one for one in table if one[0] == "d"][:3] for query in CASES}
        for name, table in tables.items()
    }
    options = {"chunk_table": tables, "offsets": "characters"}
    found = gf.compare(judged, runs, ["evidence_recall@2", "R@2"], baseline="small", **options)
    alone = {
        name: gf.evaluate(
            judged, runs[name], "evidence_recall@2", chunk_table=table, offsets="characters"
        )
        for name, table in tables.items()
    }
    apart = alone["large"]["evidence_recall@2"] - alone["small"]["evidence_recall@2"]
    assert found["large", "evidence_recall@2"].difference == pytest.approx(apart)
    assert found["large", "R@2"].difference == 0
    checked = found.gate("evidence_recall@2 < 0.99").checked
    assert [each.failed for each in checked] == [True]
    page = gf.report(judged, runs, ["evidence_recall@2"], baseline="small", **options).payload()
    assert "evidence_recall@2" in str(page)
    explained = gf.explain(
        judged, runs["large"], "evidence_recall@2", query="q1", chunk_table=tables["large"],
        offsets="characters",
    )  # fmt: skip
    assert explained.value == alone["large"].per_query.to_dict()["q1"]["evidence_recall@2"]
    signature = alone["large"].signature("evidence_recall@2")
    assert "tables=" in signature


def test_an_explanation_shows_what_each_chunk_adds():
    judged = {"q": [("d", 0, 10), ("e", 0, 10)]}
    run = {"q": [("d", 0, 20), ("d", 5, 25), ("e", 5, 15), ("x", 0, 9)]}

    def explained(measure):
        return gf.explain(judged, run, measure, query="q", offsets="characters")

    worked = explained("evidence_nDCG@3")
    assert [
        (step.doc, step.gain, round(step.contribution, 3)) for step in worked.parts[0].steps
    ] == [
        ("d 0–20", 10, 10),
        ("d 5–25", 0, 0),
        ("e 5–15", 5, 2.5),
    ]
    assert worked.conclusion == (
        "evidence_nDCG@3 = DCG / IDCG = 12.500 / 16.309 = 0.766  (characters; d 0–10: all at rank 1; "
        "e 0–10: 5 of 10 at rank 3)"
    )
    working = "evidence_recall = found / evidence = 15 / 20 = 0.750"
    assert explained("evidence_recall").conclusion.startswith(working)
    assert explained("evidence_recall").parts[0].beyond == 1
    assert explained("evidence_complete_RR").conclusion.startswith(
        "evidence_complete_RR = 0.000  ("
    )
    part = explained("evidence_complete_RR(cover=0.5)").conclusion
    assert part.startswith(
        "evidence_complete_RR(cover=0.5) = 1 / rank of completeness = 1 / 3 = 0.333"
    )
    grouped = {"q": [[("d", 0, 10), ("x", 0, 9)], ("f", 0, 4)]}
    said = gf.explain(grouped, run, "evidence_groups@4", query="q", offsets="bytes").conclusion
    assert (
        "d 0–10 of group 1: all at rank 1; x 0–9 of group 1: all at rank 4; f 0–4 of group 2: not"
        in said
    )


def test_other_spellings_and_suggestions():
    assert str(gf.measure("IoU(overlap=every)@5")) == "evidence_IoU(overlap=every)@5"
    assert str(gf.measure("precision_omega")) == "evidence_precision_omega"
    assert str(gf.measure("Complete@3")) == "evidence_complete@3"
    with pytest.raises(gf.errors.MeasureError, match="Did you mean 'evidence_recall'"):
        gf.measure("evidence_recal@5")
