"""A name that the catalogue does not have is answered by what it means, not by its letters."""

import re

import pytest

import gainful as gf
from gainful.measures.name_suggestions import NOT_MEASURED, SUBTOPIC_SYNONYMS, SYNONYMS

JUDGMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 1.0}}


def remedy(ask, *given):
    with pytest.raises(gf.errors.MeasureError) as caught:
        ask(*given)
    return caught.value.remedy


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("hit", "Success"),
        ("hit ratio", "Success"),
        ("hit_ratio@5", "Success"),
        ("mean_reciprocal_rank", "RR"),
        ("mean_average_precision", "AP"),
        ("context_precision", "AP"),
        ("context_recall", "R"),
        ("recall_at_k", "R"),
        ("prec@5", "P"),
        ("presision", "P"),
        ("discounted_cumulative_gain", "DCG"),
        ("ndcg_score", "nDCG"),
        ("ndcg10", "nDCG@10"),
        ("P010", "P@10"),
        ("f2", "F(beta=2)"),
        ("subtopic_recall", "strec"),
    ],
)
def test_a_name_from_elsewhere_is_answered_by_its_meaning(written, meant):
    said = remedy(gf.measure, written)
    assert said.startswith(f"Did you mean '{meant}'") if meant else "Did you mean" not in said


@pytest.mark.parametrize(
    ("written", "meant"), [("MRR", "RR"), ("precision", "P"), ("hr@10", "Success@10")]
)
def test_what_another_tool_writes_is_read(written, meant):
    assert str(gf.measure(written)) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [("HitRate@10", "Success"), ("hitrate@10", "Success"), ("novelty", "alpha_nDCG")],
)
def test_a_measure_of_items_without_any_is_answered_by_what_may_be_meant(written, meant):
    said = remedy(gf.evaluate, JUDGMENTS, RUN, written)
    assert said.startswith(f"Did you mean '{meant}'")
    assert "items=" in said


def test_the_class_and_the_catalogue_answer_alike():
    for ask in (gf.Measure, gf.measures.family):
        assert remedy(ask, "hit").startswith("Did you mean 'Success' (success, or hit rate)?")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kendall", "gf.statistics.kendall_tau()"),
        ("RMSE", "not a ranking"),
        ("faithfulness", "generated texts"),
        ("AUC", "'bpref'"),
    ],
)
def test_what_is_not_measured_is_said(name, said):
    assert said in remedy(gf.measure, name)


def test_letters_that_say_nothing_suggest_nothing():
    for name in ("zzz", "mar", "x" * 1000):
        said = remedy(gf.measure, name)
        assert "Did you mean" not in said
        assert "nDCG, P, R, AP, RR and Success" in said


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("novelty@10", "alpha_nDCG"),
        ("precision@5", "P_IA"),
        ("recall", "strec"),
        ("MAP", "AP_IA"),
        ("hit@10", "IA(Success)"),
        ("MRR", "IA(RR)"),
        ("alphandgc", "alpha_nDCG"),
    ],
)
def test_measures_of_subtopics_are_suggested_where_they_are_asked_for(name, meant):
    said = remedy(gf.subtopics.evaluate_subtopics, {"q": {"s": {"a": 1}}}, {"q": {"a": 1.0}}, name)
    assert said.startswith(f"Did you mean '{meant}'")


def test_the_command_line_suggests_the_same(cli, files):
    given = files("a.qrels", "q1 0 a 1\n"), files("a.run", "q1 Q0 a 1 2.0 t\n")
    for command in (["evaluate", *given, "-m", "HitRate@10"], ["measures", "hit"]):
        done = cli(*command)
        assert done.returncode == 2
        assert "Did you mean 'Success'" in done.stderr
    assert "'P_IA'" in cli("measures", "--subtopics", "precision").stderr


def test_a_measure_that_was_compared_is_found_by_its_meaning():
    found = gf.compare(JUDGMENTS, {"old": RUN, "new": RUN}, ["nDCG@10", "Success@10"])
    with pytest.raises(gf.errors.InputError, match="Did you mean 'Success@10'"):
        found.gate("Δ HitRate@10 < 0")
    with pytest.raises(gf.errors.InputError, match="Did you mean 'Success@10'"):
        found.plot.differences(measure="hit@10")


def test_the_tables_lead_to_measures_and_hide_none():
    read = [family.name for family in gf.measures.families()]
    read += [spelling.name for family in gf.measures.families() for spelling in family.spellings]
    plain = {"".join(filter(str.isalnum, name.casefold())) for name in read}
    words = [word for words in (*SYNONYMS.values(), *NOT_MEASURED.values()) for word in words]
    assert len(words) == len(set(words))
    for word in words:  # a name that is read needs no answer, and would never get it
        assert "".join(filter(str.isalnum, word.casefold())) not in plain
    for meant in SYNONYMS:
        at = "@10" if gf.measures.family(meant.partition("(")[0]).cutoff == "always" else ""
        assert str(gf.measure(meant + at)) == meant + at
    for meant in SUBTOPIC_SYNONYMS:
        assert gf.subtopics.subtopic_family(meant).name == meant


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("infNDCG", "inferred_ndcg"),
        ("infNDCG@10", "inferred_ndcg"),
        ("inferred_ndcg", "inferred_ndcg"),
        ("xinfAP", "inferred_ap"),
    ],
)
def test_measures_of_sampled_pools_name_the_function_that_works(cli, files, name, function):
    told = rf"gf\.judging\.{function}\(samples, run\)"
    with pytest.raises(gf.errors.MeasureError, match=told):
        gf.measure(name)
    assert callable(getattr(gf.judging, function))
    given = files("a.qrels", "q1 0 a 1\n"), files("a.run", "q1 Q0 a 1 2.0 t\n")
    assert re.search(told, " ".join(cli("evaluate", *given, "-m", name).stderr.split()))
