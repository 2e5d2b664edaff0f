"""Datasets of ir_datasets as judgments, queries, documents and runs."""

import ir_datasets
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseScoredDocs, GenericScoredDoc, TrecSubQrel

import gainful as gf
from gainful.integrations.ir_datasets import docs, judgments, load, queries, run

RUN = {"1": {"b": 2.0, "a": 1.0}, "2": {"c": 1.0, "b": 0.5}}
GRADES = {"1": {"a": 2, "b": 0}, "2": {"c": 1}}


class Scored(BaseScoredDocs):
    def scoreddocs_iter(self):
        yield from (
            GenericScoredDoc(query, doc, score)
            for query in RUN
            for doc, score in RUN[query].items()
        )


@pytest.fixture
def dataset(files):
    made = ir_datasets.create_dataset(
        docs_tsv=str(files("docs.tsv", "a\talpha text\nb\tbeta\nc\tgamma\n")),
        queries_tsv=str(files("queries.tsv", "1\tfirst\n2\tsecond\n")),
        qrels_trec=str(files("judgments.qrels", "1 0 a 2\n1 0 b 0\n2 0 c 1\n")),
    )
    return Dataset(made, Scored())


def test_a_dataset_is_judgments_and_a_run_everywhere(dataset):
    scores = gf.evaluate(dataset, dataset, ["nDCG@10", "AP"])
    assert scores.means == gf.evaluate(GRADES, RUN, ["nDCG@10", "AP"]).means
    assert gf.evaluate(dataset, RUN)["nDCG@10"] == gf.evaluate(dataset.qrels_iter(), RUN)["nDCG@10"]
    assert (
        gf.evaluate_runs(dataset, {"one": RUN, "two": dataset})["two"]["nDCG@10"]
        == (scores["nDCG@10"])
    )
    assert str(gf.check(dataset, {"x": RUN})) == str(gf.check(GRADES, {"x": RUN}))


def test_its_parts_as_dicts(dataset):
    assert judgments(dataset) == GRADES
    assert run(dataset) == RUN
    assert queries(dataset) == {"1": "first", "2": "second"}
    assert docs(dataset) == {"a": "alpha text", "b": "beta", "c": "gamma"}
    assert docs(dataset, ["c", "a"]) == {"c": "gamma", "a": "alpha text"}
    assert load(dataset) is dataset


def test_judgments_of_subtopics():
    rows = [("1", "a", 1, "x"), ("1", "b", 1, "y"), ("2", "c", 1, "x")]
    judged = [TrecSubQrel(*row)._asdict() for row in rows]
    scores = gf.subtopics.evaluate_subtopics(judged, RUN, "alpha-nDCG@10")
    subtopics = {"1": {"x": {"a": 1}, "y": {"b": 1}}, "2": {"x": {"c": 1}}}
    assert scores.means == gf.subtopics.evaluate_subtopics(subtopics, RUN, "alpha-nDCG@10").means


def test_ids_are_those_of_the_registry(dataset, monkeypatch):
    monkeypatch.setattr(ir_datasets, "load", {"mine/test": dataset}.__getitem__)
    assert judgments("mine/test") == GRADES
    assert gf.evaluate(load("mine/test"), RUN).means == gf.evaluate(GRADES, RUN).means
    with pytest.raises(gf.errors.InputError, match=r"dataset: expected an id .* 'beir/none'"):
        load("beir/none")


def test_an_id_of_the_registry_itself():
    """Nothing is downloaded before something is read."""
    assert load("beir/scifact/test").has_qrels()
    with pytest.raises(gf.errors.InputError, match="beir/scifact: expected a dataset with qrels"):
        judgments("beir/scifact")
    with pytest.raises(gf.errors.InputError, match="an id of ir_datasets"):
        load("beir/none")


def test_what_is_not_there_is_refused(files, dataset):
    bare = ir_datasets.create_dataset(docs_tsv=str(files("more.tsv", "a\talpha\n")))
    for read in (judgments, queries, run):
        with pytest.raises(gf.errors.InputError, match="found one with docs"):
            read(bare)
    with pytest.raises(
        gf.errors.InputError, match="ids: expected documents of dataset, found 1 others: 'x'"
    ):
        docs(dataset, ["a", "x"])
    for odd in (None, 3, {"q": {}}, object()):
        with pytest.raises(gf.errors.InputError, match="dataset: expected an id"):
            load(odd)


def test_a_document_that_comes_twice_is_refused(files):
    path = files("twice.qrels", "1 0 a 2\n1 1 a 1\n")
    twice = ir_datasets.create_dataset(qrels_trec=str(path))
    with pytest.raises(gf.errors.InputError, match="query '1': expected each document once") as one:
        judgments(twice)
    assert "merge_judgments" in one.value.remedy
    assert "subtopics" not in one.value.remedy


def test_of_subtopics_that_is_said(monkeypatch, dataset):
    rows = [TrecSubQrel("1", "a", 1, "x"), TrecSubQrel("1", "a", 1, "y")]
    monkeypatch.setattr(dataset, "qrels_iter", lambda: iter(rows), raising=False)
    with pytest.raises(gf.errors.InputError, match="evaluate_subtopics"):
        judgments(dataset)


@pytest.mark.parametrize("ids", ["d1", b"d1", 3, {"a": 1}])
def test_ids_of_documents_are_a_list(dataset, ids):
    with pytest.raises(gf.errors.InputError, match="ids: expected a list of document ids, found"):
        docs(dataset, ids)


def test_ids_of_documents_are_texts_or_whole_numbers(dataset):
    with pytest.raises(gf.errors.InputError, match=r"ids: expected documents of dataset, .* '1'"):
        docs(dataset, [1])
    with pytest.raises(gf.errors.InputError, match=r"ids: expected a string \(or an integer\)"):
        docs(dataset, ["a", 1.5])
    assert docs(dataset, iter(["b"])) == {"b": "beta"}
