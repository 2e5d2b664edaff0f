"""Predictions that MTEB writes, as runs, and its retrieval scores, beside MTEB's own."""

import copy
import json
import random

import mteb
import pytest
from datasets import Dataset
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict
from mteb.mocks.mock_tasks import MockRetrievalTask
from mteb.models import ModelMeta

import gainful as gf
from gainful.integrations.mteb import judgments, predictions, retrieval_scores

pytestmark = pytest.mark.filterwarnings("ignore")  # of MTEB and what it imports
K_VALUES = (1, 3, 5, 10, 20, 100, 1000)


def case(seed):
    rng = random.Random(seed)  # noqa: S311
    qrels = {f"q{n}": {f"d{i}": rng.choice((0, 0, 1, 2)) for i in range(8)} for n in range(6)}
    results = {
        query: {f"d{i}": rng.randrange(6) / 8 for i in rng.sample(range(12), 9)} | {query: 1.5}
        for query in qrels
    }
    return qrels, results


class Task(MockRetrievalTask):
    """A task of two splits with graded judgments."""

    def load_data(self, **_):
        split = {
            "corpus": Dataset.from_list(
                [{"id": f"d{i}", "text": "t", "title": ""} for i in range(12)]
            ),
            "queries": Dataset.from_list([{"id": f"q{n}", "text": f"t{n}"} for n in range(6)]),
            "relevant_docs": case(1)[0],
            "top_ranked": None,
        }
        self.dataset = {"default": {"test": split, "val": split}}
        self.data_loaded = True


class Model:
    """Finds what it was told to find."""

    def __init__(self, name, seed):
        self.mteb_model_meta = ModelMeta.create_empty({"name": name, "revision": "1"})
        self.found = case(seed)[1]

    def index(self, corpus, **_):
        pass

    def search(self, queries, **_):
        return {each["id"]: dict(self.found[each["id"]]) for each in queries}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What MTEB writes of two models, and the scores of each."""
    folder = tmp_path_factory.mktemp("predictions")
    scores = {}
    for name, seed in {"team/one": 2, "team/two": 3}.items():
        place = folder / name.replace("/", "__")
        done = mteb.evaluate(
            Model(name, seed), Task(), cache=None, prediction_folder=place, show_progress_bar=False
        )
        scores[name] = done.task_results[0].scores
    return folder, scores


def test_predictions_are_runs_and_have_the_scores_of_mteb(written):
    folder, scores = written
    runs = predictions(folder, split="test")
    assert runs == {"team/one": case(2)[1], "team/two": case(3)[1]}
    found = gf.evaluate_runs(judgments(Task()), runs, "nDCG@10", dialect="beir", policy=None)
    for name, run in runs.items():
        (theirs,) = scores[name]["test"]
        ours = retrieval_scores(judgments(Task()), run, K_VALUES)
        assert {key: theirs[key] for key in ours} == pytest.approx(ours, abs=1e-12)
        assert theirs["main_score"] == ours["ndcg_at_10"]
        assert found[name]["nDCG@10"] > 0


def test_one_file_of_one_split_is_a_run_everywhere(written):
    folder, scores = written
    (path,) = folder.rglob("team__one/*.json")
    assert predictions(path, task="MockRetrievalTask", subset="default", split="val") == {
        "team/one": case(2)[1]
    }
    with pytest.raises(gf.errors.InputError, match=r"one split, found val, test\. Give split="):
        predictions(folder)
    with pytest.raises(gf.errors.InputError, match="task: expected one of MockRetrievalTask"):
        predictions(folder, task="Other")
    content = json.loads(path.read_text())
    del content["default"]["val"]
    single = path.parent / "single.json"
    single.write_text(json.dumps(content))
    try:
        found = gf.evaluate(judgments(Task()), single, policy={"precision": "single"})
    finally:
        single.unlink()
    assert round(found["nDCG@10"], 5) == scores["team/one"]["test"][0]["ndcg_at_10"]


@pytest.mark.parametrize("ignore", [True, False])
def test_scores_are_those_of_mteb_and_nothing_is_changed(ignore):
    qrels, results = case(4)
    given = copy.deepcopy((qrels, results))
    found = retrieval_scores(qrels, results, [1, 3, 10], ignore_identical_ids=ignore)
    assert (qrels, results) == given
    if ignore:
        for query in results:
            given[1][query].pop(query)
    made = calculate_retrieval_scores(given[1], given[0], [1, 3, 10])
    theirs = make_score_dict(
        ndcg=made.ndcg, _map=made.map, recall=made.recall, precision=made.precision, mrr=made.mrr,
        naucs={}, naucs_mrr={}, hit_rate=made.hit_rate, task_scores={},
    )  # fmt: skip
    assert theirs.pop("accuracy") == found["recall_at_1"]
    assert found == pytest.approx(theirs, abs=1e-12)


def test_missing_queries_are_told():
    qrels, results = case(5)
    del results["q1"]
    with pytest.warns(gf.errors.GainfulWarning, match="1 judged queries are not in the results"):
        retrieval_scores(qrels, results, [10])


def test_judgments_that_are_not_there():
    with pytest.raises(gf.errors.InputError, match="found 'default': 'test', 'val'"):
        judgments(Task(), split="train")
    with pytest.raises(gf.errors.InputError, match="no data"):
        judgments(object())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", r"expected {subset: {split: {query: {doc: score}}}}"),
        ("{", "expected JSON"),
        ('{"default": 3}', "subset 'default': expected {split"),
        ('{"default": {"test": {"q": [1]}}}', "split 'test': expected {query: {doc: score}}"),
        ("{}", r"expected {subset: {split: .*, found no query in any split"),
        ('{"default": {}}', "found no query in any split"),
        ('{"default": {"test": {}}}', "found no query in any split"),
        ('{"default": {"test": {"q": {"d": "x"}}}}', "query 'q', document 'd': expected a number"),
        ('{"default": {"test": {"q": {"d": true}}}}', "expected a number as the score, found True"),
    ],
)
def test_other_files_are_refused(files, content, message):
    with pytest.raises(gf.errors.InputError, match=message):
        predictions(files("T_predictions.json", content))


def test_folders_and_names(tmp_path):
    with pytest.raises(gf.errors.InputError, match="none in this folder"):
        predictions(tmp_path)
    with pytest.raises(gf.errors.InputError, match="a file that can be read"):
        predictions(tmp_path / "none.json")
    for place, meta in {
        "a": {},
        "b": {"mteb_model_meta": {"model_name": "m", "revision": None}},
    }.items():
        (tmp_path / place).mkdir()
        content = {**meta, "en": {"test": {"q": {"d": 1.0}}}}
        (tmp_path / place / "T_predictions.json").write_text(json.dumps(content))
    assert [*predictions(tmp_path)] == ["a", "m"]
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "T_predictions.json").write_text(json.dumps(content))
    assert [*predictions(tmp_path)] == [
        "a",
        str(tmp_path / "b" / "T_predictions.json"),
        str(tmp_path / "c" / "T_predictions.json"),
    ]


@pytest.mark.parametrize("place", [None, 3, {}, [], "x" * 100_000])
def test_places_that_are_none_are_refused(place):
    with pytest.raises(gf.errors.InputError, match="place: expected the path of a file or of a"):
        predictions(place)


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(
        gf.errors.InputError, match=r"expected (the path of a file|a file that can)"
    ):
        predictions("a\0b")


def test_a_model_without_a_query_is_not_passed_over(tmp_path):
    for name, run in {"a": {}, "b": {"q": {"d": 1.0}}}.items():
        (tmp_path / name).mkdir()
        content = {"en": {"test": run}}
        (tmp_path / name / "T_predictions.json").write_text(json.dumps(content))
    assert predictions(tmp_path) == {"a": {}, "b": {"q": {"d": 1.0}}}


def test_a_split_without_queries_is_no_run(files):
    path = files("T_predictions.json", '{"default": {"test": {}}}')
    message = (
        r"expected one split of one subset, with queries, found none in \['default'\]\['test'\]"
    )
    with pytest.raises(gf.errors.InputError, match=message):
        gf.evaluate({"q": {"d": 1}}, path)


def test_weights_count_where_the_page_says():
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "b": 2.0}}
    with pytest.raises(TypeError, match="weights"):
        retrieval_scores(judged, run, [10], weights={"q1": 1, "q2": 3})
    assert retrieval_scores(judged, run, [10])["mrr_at_10"] == 0.75
    assert gf.evaluate(judged, run, "RR@10", weights={"q1": 1, "q2": 3})["RR@10"] == 0.625
