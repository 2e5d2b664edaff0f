"""`why`: the gap between two tools, in parts that sum to it."""

import itertools
import json
import math
import random

import pytest

import gainful as gf
from random_runs import random_case

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

JUDGMENTS = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}
RUN = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "u": 1.0}}
L3 = math.log2(3)
NAMES = ["gainful", *(each.name for each in gf.measures.dialects())]
PAIRS = list(itertools.permutations(NAMES, 2))
BEFORE = ["cutoff", "gain", "discount", "base", "ideal", "depth", "norm"]
DOCUMENTS = ["unjudged", "absent", "negative", "fold", "drop_self", "duplicates"]
ORDER = [*BEFORE, *DOCUMENTS, "precision", "ties", "empty", "missing"]


def mean(judgments, run, measure, name):
    given = {} if name == "gainful" else {"dialect": name}
    (value,) = gf.evaluate(judgments, run, measure, **given).means.values()
    return value


def accepted(judgments, run, measure):
    """The names that measure these data, with their values."""
    found = {}
    for name in NAMES:
        try:
            found[name] = mean(judgments, run, measure, name)
        except gf.errors.GainfulError:
            continue
    return found


def several(seed, grades):
    """Three random cases in one, with missing and empty queries."""
    judgments, run = {"empty": {"a": min(grades)}}, {"empty": {"a": 1.0}}
    for number in range(3):
        one, other = random_case(f"{seed} {number}", grades=grades, documents=8)
        judgments |= {f"{number} {query}": docs for query, docs in one.items()}
        run |= {f"{number} {query}": docs for query, docs in other.items()}
    return judgments, run


@pytest.mark.parametrize("measure", ["nDCG@3", "nDCG", "DCG@2", "P@2"])
@pytest.mark.parametrize("seed", range(12))
def test_parts_sum_to_the_gap(seed, measure):
    """Some of the pairs of tools that take the data, each in both orders."""
    grades = [(0, 0, 1, 2, 3), (1, 2, 3), (-1, 0, 1, 2), (0, 0.5, 1, 2.5)][seed % 4]
    judgments, run = several(seed, grades)
    values = accepted(judgments, run, measure)
    rng = random.Random(seed)  # noqa: S311
    pairs = list(itertools.combinations(values, 2))
    told = 0
    for first, second in rng.sample(pairs, min(6, len(pairs))):
        for one, other in ((first, second), (second, first)):
            found = gf.why(judgments, run, measure, dialects=[one, other])
            assert (found.first_value, found.second_value) == (values[one], values[other])
            assert found.gap == values[other] - values[one]
            parts = [cause.part for cause in found.causes]
            assert math.fsum(parts) == pytest.approx(found.gap, abs=1e-12)
            for cause in found.causes:
                assert cause.moved >= len(cause.moves)
                assert cause.moved or cause.part
                if cause.moved == len(cause.moves):
                    moves = math.fsum(move.part for move in cause.moves)
                    assert moves == pytest.approx(cause.part, abs=1e-12)
                    told += 1
            names = [name for cause in found.causes for name in cause.name.split(" and ")]
            assert names == sorted(names, key=ORDER.index)
            assert not set(names) & set(found.idle)
    assert told or measure == "P@2"


def test_there_are_many_pairs():
    """Together the seeds reach most of them."""
    judgments, run = several(0, (0, 0, 1, 2, 3))
    assert len(accepted(judgments, run, "nDCG@3")) > 15
    assert len(PAIRS) > 900


def test_worked_by_hand():
    found = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["pytrec_eval", "lightgbm"])
    linear = (1 + 2 / L3) / (3 + 2 / L3 + 1 / 2)
    exponential = (1 + 3 / L3) / (7 + 3 / L3 + 1 / 2)
    of_the_list = (1 + 3 / L3) / (3 + 1 / L3)
    gain, ideal = found.causes
    assert (gain.name, gain.before, gain.after, gain.moved) == ("gain", "linear", "exp2", 1)
    assert gain.part == pytest.approx(exponential - linear, abs=1e-12)
    assert (ideal.name, ideal.before, ideal.after) == ("ideal", "judged", "retrieved")
    assert ideal.part == pytest.approx(of_the_list - exponential, abs=1e-12)
    assert found.idle == ("negative", "precision", "ties", "empty")
    assert gain.example.query == "q"
    assert gain.example.before.endswith("= 2.262 / 4.762 = 0.475")
    assert gain.example.after == ideal.example.before
    assert ideal.example.after.endswith("= 0.797")
    (move,) = gain.moves
    assert (move.before, move.after) == (pytest.approx(linear), pytest.approx(exponential))


def test_the_way_back_has_other_parts():
    """The order of the changes is the same both ways, so the parts are not the same negated."""
    there = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["pytrec_eval", "lightgbm"])
    back = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["lightgbm", "pytrec_eval"])
    assert back.gap == -there.gap
    assert [cause.name for cause in back.causes] == ["gain", "ideal"]
    assert back.causes[0].part != pytest.approx(-there.causes[0].part, abs=1e-3)


MIXED = {"p": {"a": 2, "b": 1}, "e": {"a": 0}, "m": {"a": 1}, "t": {"a": 0, "b": 1}}
MIXED_RUN = {"p": {"a": 2, "b": 1}, "e": {"a": 1}, "t": {"a": 1, "b": 1}}


def causes(dialects, **options):
    found = gf.why(MIXED, MIXED_RUN, "nDCG@10", dialects=dialects, **options)
    return {cause.name: (round(cause.part, 12), cause.moves[0].query) for cause in found.causes}


def test_queries_that_start_and_cease_to_count():
    """ir_measures: 1, 0, 0, 1 (b before a). gdeval leaves m and e out: 1, 1."""
    found = gf.why(MIXED, MIXED_RUN, "nDCG@10", dialects=["ir_measures", "gdeval"])
    assert (found.first_value, found.second_value) == (0.5, 1.0)
    empty, missing = found.causes
    assert (empty.name, empty.part) == ("empty", pytest.approx(2 / 3 - 1 / 2))
    assert [(move.query, move.before, move.after) for move in empty.moves] == [("e", 0.0, None)]
    assert empty.moves[0].part == pytest.approx(empty.part)
    assert (missing.name, missing.part) == ("missing", pytest.approx(1 - 2 / 3))
    assert [(move.query, move.before, move.after) for move in missing.moves] == [("m", 0.0, None)]
    back = gf.why(MIXED, MIXED_RUN, "nDCG@10", dialects=["gdeval", "ir_measures"])
    assert [(move.query, move.before, move.after) for move in back.causes[0].moves] == [
        ("e", None, 0.0)
    ]
    assert missing.example is None  # of a list that is not there nothing can be worked out


def test_ties_and_missing_queries():
    found = causes(["pytrec_eval", "scikit-learn"])
    # t is 1 with b before a, and (1 + 1/L3)/2 on average.
    assert found == {"ties": (pytest.approx(((1 + 1 / L3) / 2 - 1) / 3), "t")}
    assert causes(["catboost", "pytrec_eval"]) == {
        "ties": (pytest.approx((1 - 1 / L3) / 3), "t"),
        "empty": (pytest.approx(-1 / 3), "e"),
    }


def test_one_name_is_set_beside_gainful():
    one = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["lightgbm"])
    assert one == gf.why(JUDGMENTS, RUN, "nDCG@4", dialects="lightgbm")
    assert one == gf.why(
        JUDGMENTS, RUN, "nDCG@4", dialects=["gainful", gf.measures.dialect("lightgbm")]
    )
    assert one.first.name == "gainful"
    assert one.first_value == gf.evaluate(JUDGMENTS, RUN, "nDCG@4")["nDCG@4"]
    best = gf.why(MIXED, MIXED_RUN, dialects=["rax"], policy=gf.Policy(ties="best", empty="skip"))
    policy = gf.Policy(ties="best", empty="skip")
    assert best.first_value == gf.evaluate(MIXED, MIXED_RUN, policy=policy)["nDCG@10"]
    assert best.first.policy.ties == "best"


@pytest.mark.parametrize(
    ("first", "second"), [("trec_eval", "trec_eval-10"), ("gainful", "gainful"), ("rax", "rax")]
)
def test_ways_that_are_the_same(first, second):
    found = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=[first, second])
    assert (found.gap, found.causes, found.idle) == (0.0, (), ())
    assert "The numbers are the same. Both tools measure in the same way." in str(found)
    assert "cause" not in str(found)
    name, value = found.first.name, f"{found.first_value:.6f}"
    assert sum(line.startswith(name) and value in line for line in str(found).splitlines()) == 2


def test_ways_that_differ_without_effect():
    found = gf.why({"q": {"a": 1}}, {"q": {"a": 1}}, dialects=["lightgbm", "rax"])
    assert (found.gap, found.causes) == (0.0, ())
    assert found.idle == ("negative", "precision", "empty")
    assert "different choices without effect here: negative, precision, empty" in str(found)
    assert "The numbers are the same. The differences have no effect on this data." in str(found)
    assert "cause" not in str(found)


def test_what_is_written_out_is_asked_of_both():
    found = gf.why(JUDGMENTS, RUN, "nDCG(gain=linear)@4", dialects=["xgboost", "scikit-learn"])
    assert str(found.first.measure) == "nDCG(ideal=retrieved)@4"
    assert found.gap == 0.0


def test_choices_that_work_together_only():
    """A gain that is no number stays one cause with the choice that does away with it."""
    judgments, run = {"q": {"a": 1, "b": -1}}, {"q": {"b": 2, "a": 1}}
    policy = gf.Policy(negative="error")
    with pytest.raises(gf.errors.InputError, match="negative=error"):
        gf.why(judgments, run, dialects=["catboost"], policy=policy)
    # Towards minmax nothing can be measured before negative is changed as well.
    found = gf.why(judgments, run, "DCG@2", dialects=["pytrec_eval", "gainful"], policy=gf.Policy())
    assert [cause.name for cause in found.causes] == ["negative"]
    assert found.causes[0].part == pytest.approx(-1.0)


def test_a_mean_that_is_no_number():
    found = gf.why(MIXED, MIXED_RUN, dialects=["rax"], policy=gf.Policy(empty="nan"))
    assert math.isnan(found.first_value)
    plain = json.loads(gf.writing.render(found, "json"))
    assert plain["first"]["value"] is None
    assert plain["gap"] is None


def test_as_plain_values():
    found = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["pytrec_eval", "lightgbm"])
    plain = json.loads(found.to_json())
    assert plain == found.to_dict()
    assert plain["second"]["measure"] == "nDCG(gain=exp2, ideal=retrieved)@4"
    assert [cause["cause"] for cause in plain["causes"]] == ["gain", "ideal"]
    assert sum(cause["part"] for cause in plain["causes"]) == pytest.approx(plain["gap"])
    assert plain["causes"][0]["moves"][0]["query"] == "q"
    assert plain["idle"] == ["negative", "precision", "ties", "empty"]
    assert "<table" in found._repr_html_()
    text = str(found)
    assert "the parts add up to the gap, +0.321713" in text
    assert "gain linear → exp2, query q:" in text


@pytest.mark.parametrize("name", gf.writing.formats())
def test_every_format(name):
    found = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["pytrec_eval", "lightgbm"])
    assert "ideal" in gf.writing.render(found, name)
    nothing = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["rax", "rax"])
    gf.writing.render(nothing, name)


def test_the_formats_of_programs_have_both_numbers():
    found = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["pytrec_eval", "lightgbm"])
    rows = [json.loads(line) for line in gf.writing.render(found, "jsonl").splitlines()]
    assert [row["cause"] for row in rows] == [
        "pytrec_eval nDCG@4",
        "gain",
        "ideal",
        "lightgbm nDCG(gain=exp2, ideal=retrieved)@4",
    ]
    assert rows[0]["mean"] == found.first_value
    assert rows[-1]["mean"] == rows[-2]["mean"] == found.second_value
    assert rows[1]["mean"] == pytest.approx(found.first_value + rows[1]["part"], abs=1e-15)
    assert (rows[1]["before"], rows[1]["after"], rows[1]["moves most"]) == ("linear", "exp2", "q")
    nothing = gf.why(JUDGMENTS, RUN, "nDCG@4", dialects=["rax", "rax"])
    for name, mark in (("csv", ","), ("tsv", "\t")):
        head, *lines = gf.writing.render(found, name).splitlines()
        assert head.split(mark)[-1] == "mean"
        ends = float(lines[0].split(mark)[-1]), float(lines[-1].split(mark)[-1])
        assert ends == (found.first_value, found.second_value)
        _, one, other = gf.writing.render(nothing, name).splitlines()
        assert one == other
        assert float(one.split(mark)[-1]) == nothing.first_value


def test_files_of_labels_and_predictions(tmp_path):
    """Documents without ids: tools that order ties by them average, as gainful does."""
    labels, predictions = tmp_path / "test.svm", tmp_path / "predictions.txt"
    labels.write_text("1 qid:1 1:0\n2 qid:1 1:0\n0 qid:1 1:0\n1 qid:2 1:0\n0 qid:2 1:0\n")
    predictions.write_text("3\n2\n1\n1\n1\n")
    found = gf.why(labels, predictions, dialects=["lightgbm"])
    assert found.first_value == gf.evaluate(labels, predictions)["nDCG@10"]
    assert found.second_value == mean(labels, predictions, "nDCG@10", "lightgbm")
    assert [(cause.name, cause.before) for cause in found.causes] == [
        ("gain", "linear"),
        ("ties", "average"),
    ]
    alike = gf.why(labels, predictions, dialects=["trec_eval-9", "scikit-learn"])
    assert alike.first_value == mean(labels, predictions, "nDCG@10", "trec_eval-9")
    assert alike.gap == 0.0
    got = gf.explanation.which(labels, predictions, got=f"{found.second_value:.6f}")
    assert {each.way.name for each in got.found if not each.change} == {
        "lightgbm",
        "xgboost",
        "rax",
        "allrank",
        "kaggle",
        "elasticsearch",
        "quepid",
        "opensearch-workbench",
    }


def test_files_and_dicts_give_the_same(tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "my.run"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q in MIXED for d, g in MIXED[q].items()))
    run.write_text(
        "".join(f"{q} Q0 {d} 1 {s} t\n" for q in MIXED_RUN for d, s in MIXED_RUN[q].items())
    )
    for names in (["ir_measures", "gdeval"], ["beir", "catboost"], ["xgboost", "gainful"]):
        assert gf.why(qrels, run, dialects=names) == gf.why(MIXED, MIXED_RUN, dialects=names)


@pytest.mark.parametrize("names", [[], ["rax", "ranx", "beir"]])
def test_other_than_two_tools(names):
    with pytest.raises(gf.errors.InputError, match="one or two names of tools"):
        gf.why(JUDGMENTS, RUN, dialects=names)


def test_refusals():
    with pytest.raises(gf.errors.MeasureError, match="Did you mean 'rax'"):
        gf.why(JUDGMENTS, RUN, dialects=["rex"])
    with pytest.raises(gf.errors.InputError, match=r"dialect lightgbm: .* grade 0.5"):
        gf.why({"q": {"a": 0.5}}, RUN, dialects=["rax", "lightgbm"])
    with pytest.raises(
        gf.errors.InputError, match="policy: expected no policy with two other tools"
    ):
        gf.why(JUDGMENTS, RUN, dialects=["rax", "ranx"], policy=gf.Policy())
    with pytest.raises(gf.errors.InputError, match="missing=error"):
        gf.why(MIXED, MIXED_RUN, dialects=["ranx", "rax"])
    with pytest.raises(gf.errors.MeasureError, match="one measure"):
        gf.why(JUDGMENTS, RUN, "nDCG@5,10", dialects=["ranx", "rax"])
    for measure in ("NumRet", "GMAP"):
        with pytest.raises(gf.errors.MeasureError, match="the mean over the queries"):
            gf.why(JUDGMENTS, RUN, measure, dialects=["ranx", "rax"])
    with pytest.raises(gf.errors.InputError, match=r"none\.qrels"):
        gf.why("none.qrels", RUN, dialects=["ranx", "rax"])
