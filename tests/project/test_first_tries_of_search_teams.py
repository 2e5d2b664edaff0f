"""What people type on their first day: a shop, a maker of RAG, a recommender team, a researcher.

Each has data in the form in which it comes to them. The numbers are worked by hand.
"""

import json
import math
from dataclasses import dataclass, field

import pandas as pd
import polars as pl
import pytest

import gainful as gf

SECOND, THIRD = 1 / math.log2(3), 1 / 2  # discounts of the ranks 2 and 3


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# A shop: responses of its search in JSON lines, ratings of several annotators in a CSV.

RATINGS = """search_term,product_id,rating,annotator
café «rot»,SKU-1/a,3,ann
café «rot»,SKU-1/a,1,bob
café «rot»,SKU-2,1,ann
red shoes,SKU-3,2,ann
red shoes,SKU-3,0,eve
bags,SKU-4,1,bob
hats,SKU-5,1,bob
"""
CATEGORIES = "search_term,category\ncafé «rot»,food\nred shoes,wear\nbags,wear\nhats,wear\n"


def response(query, *ids, **more):
    hits = [{"_id": each, "_score": 9.5 - place} for place, each in enumerate(ids)]
    return {"query": query, "took": 3, "hits": {"total": {"value": 9}, "hits": hits}, **more}


@pytest.fixture
def shop(folder):
    (folder / "ratings.csv").write_text(RATINGS)
    (folder / "categories.csv").write_text(CATEGORIES)
    # Nobody judged SKU-9; hats are missing; the old search finds the second-best coffee first.
    new = [
        response("café «rot»", "SKU-1/a", "SKU-2"),
        response("red shoes", "SKU-9", "SKU-3"),
        response("bags"),
    ]
    old = [response("café «rot»", "SKU-2", "SKU-1/a"), *new[1:]]
    for name, answers in (("new", new), ("old", old)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in answers))
    return new


def test_a_shop_measures_its_categories(shop, cli):
    scores = gf.evaluate(
        "ratings.csv", shop, "nDCG@10", assessors="mean", slices="categories.csv", by="category"
    )
    assert scores.per_query.to_dict() == {
        "bags": {"nDCG@10": 0.0},
        "hats": {"nDCG@10": 0.0},
        "red shoes": {"nDCG@10": pytest.approx(SECOND)},
        "café «rot»": {"nDCG@10": 1.0},
    }
    means = {part.value: (part.mean, len(part.coverage.missing)) for part in scores.slices}
    assert means == {"wear": (pytest.approx(SECOND / 3), 1), "food": (1.0, 0)}
    files = ("ratings.csv", "new.jsonl", "--assessors", "mean")
    done = cli("evaluate", *files, "--slices", "categories.csv", "--by", "category")
    (row, *_) = (line for line in done.stdout.splitlines() if line.startswith("category  wear"))
    assert f"{SECOND / 3:.4f}" in row


def test_a_shop_has_a_gate_with_a_floor_and_one_with_a_change(shop, cli, folder):
    floor = ("evaluate", "ratings.csv", "new.jsonl", "--assessors", "mean")
    floor += ("--fail-if", "nDCG@10 < 0.3", "--fail-if", "missing > 1")
    done = cli(*floor, "--junit", "gate.xml", "--summary", "gate.md")
    assert done.returncode == 1  # 0.41, of four queries, whose interval reaches below 0.3
    told = (folder / "gate.xml").read_text()
    assert '<testcase classname="new" name="fail if nDCG@10 &lt; 0.3">\n<failure' in told
    assert '<testcase classname="new" name="fail if missing &gt; 1"/>' in told
    summary = (folder / "gate.md").read_text()
    assert summary.startswith("## gainful: failed\n")
    assert f"| new | {(1 + SECOND) / 4:.4f} |" in summary

    change = ("compare", "ratings.csv", "old.jsonl", "new.jsonl", "--assessors", "mean")
    assert cli(*change, "--fail-if", "Δ nDCG@10 < -0.05").returncode == 0
    refused = cli(*change, "--fail-if", "delta nDCG@10 < -0.05")
    assert "Write 'Δ nDCG@10' or 'change(nDCG@10)'" in refused.stderr
    refused = cli(*change, "--fail-if", "P@5 < 0.3")
    assert "'P@5', which is not measured. Add it to the measures: -m 'P@5'" in refused.stderr


def test_a_shop_sees_its_worst_queries(shop, cli):
    done = cli(
        *(
            "evaluate",
            "ratings.csv",
            "new.jsonl",
            "--assessors",
            "mean",
            "--worst",
            "3",
            "-f",
            "csv",
        )
    )
    assert [line.rsplit(",", 1)[0] for line in done.stdout.splitlines()] == [
        "run,query",
        "new,bags",
        "new,hats",
        "new,red shoes",
    ]


def test_a_shop_mixes_things_up(shop, cli):
    with pytest.raises(
        gf.errors.InputError, match=r"This looks like a run, but it was passed as judgments"
    ):
        gf.evaluate(shop, "ratings.csv", "nDCG@10")
    failed = [*shop, {"query": "hats", "error": {"type": "timeout"}, "status": 503}]
    with pytest.raises(gf.errors.InputError, match=r"query 'hats': .* found an error: .*timeout"):
        gf.evaluate("ratings.csv", failed, "nDCG@10", assessors="mean")
    done = cli("evaluate", "ratings.csv", "new.jsonl", "--assessors", "mean", "--by", "category")
    assert "--slices FILE" in done.stderr
    assert "Did you mean '--measure'?" in cli("evaluate", "a", "b", "--metric", "P@5").stderr


# A maker of RAG: documents with metadata, chunks, pairs with scores, gold passages as sets.


@dataclass
class Document:
    page_content: str
    metadata: dict = field(default_factory=dict)
    id: str | None = None


GOLD = {
    "How do I reset it?": {"manual"},
    "What does E7 mean?": {"errors", "faq"},
    "Who are you?": {"about"},
    "Is it safe?": {"safety"},
}
BM25 = {
    "How do I reset it?": ["faq#0", "manual#3", "manual#1"],
    "What does E7 mean?": ["errors#0", "errors#1", "manual#2", "faq#4"],
    "Who are you?": [],
    "Is it safe?": ["faq#0", "blog#1"],
}
DENSE = {**BM25, "Who are you?": ["about#0"], "Is it safe?": ["blog#1", "faq#2", "safety#0"]}


def documents(run):
    return {
        question: [Document(f"text of {each}", {"source": each}, each) for each in found]
        for question, found in run.items()
    }


def test_rag_in_every_form_of_its_lists():
    measures = ["recall@2", "MRR", "hit_rate@2"]
    pairs = {
        question: [(each, 1 - place / 10) for place, each in enumerate(found)]
        for question, found in documents(BM25).items()
    }
    for run in (BM25, documents(BM25), pairs):
        scores = gf.evaluate(GOLD, run, measures, chunks="#")
        # Folded, the second list is errors, manual, faq: a cutoff counts documents.
        assert scores["recall@2"] == pytest.approx((1 + 1 / 2) / 4)
        assert scores["MRR"] == pytest.approx((1 / 2 + 1) / 4)
        assert scores["hit_rate@2"] == 2 / 4
    lists, questions = list(BM25.values()), list(BM25)
    assert gf.evaluate(GOLD, lists, "MRR", queries=questions, chunks="#")["MRR"] == scores["MRR"]


def test_rag_brings_what_its_store_and_its_log_have():
    gold, lists = {"q1": {"a"}, "q2": {"c"}}, {"q1": ["a", "b"], "q2": ["x", "c"]}
    chroma = {"ids": list(lists.values()), "distances": [[0.1, 0.2], [0.1, 0.3]], "documents": None}
    log = [{"question": question, "retrieved": found} for question, found in lists.items()]
    marked = [{"question": "q1", "relevant": ["a"]}, {"question": "q2", "relevant": ["c"]}]
    own = [{"frage": question, "funde": found} for question, found in lists.items()]
    named = {"run.query": "frage", "run.doc": "funde"}
    assert gf.evaluate(gold, chroma, "MRR", queries=["q1", "q2"])["MRR"] == 0.75
    assert gf.evaluate(gold, log, "MRR")["MRR"] == 0.75
    assert gf.evaluate(marked, log, "MRR")["MRR"] == 0.75
    assert gf.evaluate(gold, own, "MRR", columns=named)["MRR"] == 0.75
    one = {"q1": {"ids": [["b", "a"]], "distances": [[0.1, 0.2]]}, "q2": lists["q2"]}
    assert gf.evaluate(gold, one, "MRR")["MRR"] == 0.5
    with pytest.raises(gf.errors.InputError, match="passed as judgments"):
        gf.evaluate(chroma, lists, "MRR", queries=["q1", "q2"])


def test_rag_without_a_word_of_chunks_is_told_of_them():
    with pytest.warns(
        gf.errors.GainfulWarning, match="They match as chunks of documents: pass chunks='#'"
    ):
        assert gf.evaluate(GOLD, BM25, "recall@5")["recall@5"] == 0


@pytest.mark.parametrize("mark", ["#", "::", ":", "_", "-", "/"])
def test_rag_is_told_the_mark_under_which_most_chunks_are_judged(mark, tmp_path):
    gold = {"q": {"it/vpn.md": 1, "it/wifi.md": 1}}
    run = {"q": {f"it/vpn.md{mark}1": 3.0, f"it/wifi.md{mark}12": 2.0, "it/other.md": 1.0}}
    (tmp_path / "gold.qrels").write_text("q 0 it/vpn.md 1\nq 0 it/wifi.md 1\n")
    lines = [f"q Q0 {doc} 1 {score} t\n" for doc, score in run["q"].items()]
    (tmp_path / "chunks.run").write_text("".join(lines))
    told = rf"They match as chunks of documents: pass chunks='{mark}' .--chunks '{mark}' on the command line"
    for judgments, chunks in ((gold, run), (tmp_path / "gold.qrels", tmp_path / "chunks.run")):
        with pytest.warns(gf.errors.GainfulWarning, match=told):
            gf.evaluate(judgments, chunks, "recall@5")
        assert gf.evaluate(judgments, chunks, "recall@5", chunks=mark)["recall@5"] == 1
        (one,) = [
            each
            for each in gf.check(judgments, {"run": chunks})
            if each.rule == "no-shared-documents"
        ]
        assert f"evaluate --chunks '{mark}'" in one.message


def test_rag_compares_two_retrievers_from_a_project(folder, cli):
    gold = {question: sorted(passages) for question, passages in GOLD.items()}
    (folder / "gold.json").write_text(json.dumps(gold))
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        (folder / f"{name}.json").write_text(json.dumps(run))
    (folder / "gainful.toml").write_text(
        'judgments = "gold.json"\nmeasures = ["recall@3", "MRR"]\nchunks = "#"\n'
        '[gate]\nfail_if = ["Δ recall@3 < -0.05", "missing > 0"]\n'
    )
    done = cli("compare", "bm25.json", "dense.json", "--format", "csv")
    rows = [line.split(",")[:6] for line in done.stdout.splitlines()[1:]]
    assert rows == [
        ["R@3", "bm25", "dense", "0.5", "1.0", "0.5"],
        ["RR", "bm25", "dense", "0.375", repr((1 / 2 + 1 + 1 + 1 / 3) / 4), rows[1][5]],
    ]
    assert float(rows[1][5]) == pytest.approx((1 + 1 / 3) / 4)
    assert done.returncode == 0
    explained = cli("explain", "bm25.json", "--query", "Is it safe?")
    assert explained.stdout.endswith("R@3 = sum / R = 0 / 1 = 0.000\n")


def test_rag_calls_things_by_other_names():
    with pytest.raises(TypeError, match=r"Several runs are a dict \{name: run\}"):
        gf.compare(GOLD, BM25, DENSE, "MRR")
    with pytest.raises(gf.errors.InputError, match=r"pass a dict, \{'one': run, 'two': run\}"):
        gf.compare(GOLD, [BM25, DENSE], "MRR")
    with pytest.raises(TypeError, match=r"'metrics'. Did you mean 'measures'"):
        gf.evaluate(GOLD, BM25, metrics="MRR")
    with pytest.raises(TypeError, match="measures='nDCG@5'"):
        gf.evaluate(GOLD, BM25, k=5)


# A recommender team: integer ids in data frames, what was bought without a grade, several models.

BOUGHT = pd.DataFrame({"user_id": [10**10, 10**10, 7, 12], "item_id": [1, 2, 1, 9]})
ALS = pd.DataFrame(
    {"user_id": [10**10] * 3 + [7], "item_id": [1, 5, 2, 3], "score": [0.9, 0.5, 0.1, 0.8]}
)
POP = pd.DataFrame(
    {"user_id": [10**10, 7, 7, 12, 99], "item_id": [2, 3, 1, 9, 1], "score": [1, 2, 1, 1, 1]}
)
USERS = pd.DataFrame({"user_id": [7, 12, 10**10], "segment": ["new", "new", "loyal"]})
IDEAL = 1 + SECOND
ALS_NDCG = {10**10: (1 + THIRD) / IDEAL, 7: 0.0, 12: 0.0}
POP_NDCG = {10**10: 1 / IDEAL, 7: SECOND, 12: 1.0}


def test_recommenders_join_the_scores_of_users_to_their_frames():
    scores = gf.evaluate(BOUGHT, ALS, "nDCG@10")
    assert scores.coverage.missing == ("12",)
    joined = USERS.merge(scores.per_query.to_pandas(), left_on="user_id", right_on="query")
    assert dict(zip(joined["user_id"], joined["nDCG@10"], strict=True)) == pytest.approx(ALS_NDCG)
    found = gf.evaluate_runs(BOUGHT, {"als": ALS, "pop": POP}, ["nDCG@10", "HR@1"])
    rows = pl.from_pandas(USERS).join(
        found.per_query.to_polars(), left_on="user_id", right_on="query"
    )
    assert len(rows) == 6
    loyal = rows.filter((pl.col("segment") == "loyal") & (pl.col("run") == "pop"))
    assert loyal["nDCG@10"].to_list() == pytest.approx([1 / IDEAL])
    assert rows.filter(pl.col("run") == "pop")["Success@1"].sum() == 2


def test_recommenders_name_the_baseline_in_a_folder(folder, cli):
    (folder / "models").mkdir()
    BOUGHT.to_csv("bought.csv", index=False)
    for name, frame in (("als", ALS), ("pop", POP)):
        frame.to_csv(f"models/{name}.csv", index=False)
    done = cli("compare", "bought.csv", "models/", "--baseline", "pop", "--format", "csv")
    name, base, run, base_mean, mean, *_ = done.stdout.splitlines()[1].split(",")
    assert (name, base, run) == ("nDCG@10", "pop", "als")
    assert float(base_mean) == pytest.approx(sum(POP_NDCG.values()) / 3)
    assert float(mean) == pytest.approx(sum(ALS_NDCG.values()) / 3)
    swapped = cli("evaluate", "models/als.csv", "bought.csv")
    assert "Judgments without grades come before the run" in swapped.stderr


def test_recommenders_compare_segments():
    found = gf.compare(
        BOUGHT, {"pop": POP, "als": ALS}, "nDCG@10", slices=USERS, by="segment", baseline="pop"
    )
    assert {part.value: part.difference.difference for part in found.slices} == pytest.approx(
        {"new": -(SECOND + 1) / 2, "loyal": THIRD / IDEAL}
    )
    frame = found.slices_table().to_pandas()
    assert frame[["value", "queries"]].values.tolist() == [["new", 2], ["loyal", 1]]
    scores = gf.evaluate_runs(BOUGHT, {"pop": POP}, "nDCG@10", slices=USERS, by="segment")
    frame = scores.slices_table().to_polars()
    assert frame["value"].to_list() == ["", "loyal", "new"]
    new = (POP_NDCG[7] + POP_NDCG[12]) / 2
    assert frame["mean"].to_list()[1:] == pytest.approx([POP_NDCG[10**10], new])


# A researcher: TREC files, the habits of ir_measures and pytrec_eval, a table for the paper.

QRELS = "1 0 FT-1 2\n1 0 FT-2 1\n1 0 FT-3 0\n2 0 FT-1 1\n3 0 FT-9 1\n"
BASE_RUN = "1 Q0 FT-7 1 9 b\n1 Q0 FT-2 2 8 b\n1 Q0 FT-1 3 8 b\n2 Q0 FT-3 1 1 b\n4 Q0 FT-1 1 1 b\n"
NEW_RUN = "1 Q0 FT-1 1 9 n\n2 Q0 FT-1 1 2 n\n3 Q0 FT-8 1 3 n\n3 Q0 FT-9 2 2 n\n"


@pytest.fixture
def trec(folder):
    (folder / "qrels.txt").write_text(QRELS)
    (folder / "base.run").write_text(BASE_RUN)
    (folder / "new.run").write_text(NEW_RUN)
    (folder / "beir" / "qrels").mkdir(parents=True)
    rows = QRELS.replace(" 0 FT", " FT").replace(" ", "\t")
    (folder / "beir" / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")


def test_a_researcher_gets_the_numbers_of_trec_eval(trec, cli):
    # FT-2 and FT-1 tie; trec_eval puts the id that is last among bytes first.
    expected = (SECOND + 2 * THIRD) / (2 + SECOND)
    frame = gf.evaluate("qrels.txt", "base.run", "nDCG@10 AP, RR").to_pandas()
    assert frame["measure"].tolist() == ["nDCG@10", "AP", "RR"]
    ap = (1 / 2 + 2 / 3) / 2
    assert frame["mean"].tolist() == pytest.approx([expected / 3, ap / 3, 1 / 2 / 3])
    assert gf.evaluate("beir", "base.run", "AP")["AP"] == pytest.approx(ap / 3)
    done = cli("trec_eval", "-c", "-m", "ndcg_cut.10", "-m", "map", "qrels.txt", "base.run")
    assert [line.split("\t")[-1] for line in done.stdout.splitlines()] == [
        f"{ap / 3:.4f}",
        f"{expected / 3:.4f}",
    ]
    from gainful.compat import RelevanceEvaluator

    found = RelevanceEvaluator("qrels.txt", {"map"}).evaluate("base.run")
    assert found["1"]["map"] == pytest.approx(ap)


def test_a_researcher_asks_for_judged_documents_only(trec):
    scores = gf.evaluate("qrels.txt", "base.run", "nDCG@10", policy={"unjudged": "condense"})
    assert scores["nDCG@10"] == pytest.approx((1 + 2 * SECOND) / (2 + SECOND) / 3)
    for call in (
        lambda: gf.evaluate("qrels.txt", "base.run", "nDCG(judged_only=True)@10"),
        lambda: gf.evaluate("qrels.txt", "base.run", "nDCG@10", judged_only=True),
    ):
        with pytest.raises(
            (TypeError, gf.errors.MeasureError), match=r"\{'unjudged': 'condense'\}"
        ):
            call()


def test_a_researcher_writes_measures_as_ranx_does(trec):
    scores = gf.evaluate("qrels.txt", "base.run", ["r-precision", "precision@2-l2", "mrr-l2"])
    # Two are relevant for 1, of which one is among the first two; FT-1 alone has grade 2.
    assert dict(scores) == pytest.approx(
        {"Rprec": 1 / 2 / 3, "P(rel=2)@2": 0.0, "RR(rel=2)": 1 / 3 / 3}
    )


def test_a_researcher_makes_a_table_of_latex(trec, cli, folder):
    cli(
        "compare", "qrels.txt", "base.run", "new.run", "-m", "AP RR", "--systems", "-o", "table.tex"
    )
    text = (folder / "table.tex").read_text()
    ap, rr = (1 / 2 + 1 + 1 / 2) / 3, (1 + 1 + 1 / 2) / 3
    assert f"new & \\textbf{{{ap:.4f}}} & \\textbf{{{rr:.4f}}}" in text
    assert "% base: 1 of 3 queries returned nothing" in text
    found = gf.compare("qrels.txt", ["base.run", "new.run"], "AP RR")
    frame = found.systems_table().to_pandas()
    assert frame.loc[1, ["run", "AP", "RR"]].tolist() == ["new", ap, rr]


def test_a_researcher_finds_the_new_place_of_old_names():
    for old, new in (("Scores", "results.Scores"), ("InputError", "errors.InputError")):
        with pytest.raises(AttributeError, match=f"it is gainful.{new}"):
            getattr(gf, old)
    with pytest.raises(TypeError, match=r"'qrels'. Did you mean 'judgments'"):
        gf.evaluate(qrels="qrels.txt", run="base.run")
