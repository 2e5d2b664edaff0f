"""The data of examples/hotels, which docs/guides/trusting_a_model.md tells of, is what its script makes."""

import doctest
import importlib

import pytest

import gainful as gf
from example_programs import EXAMPLES, run_here

HOTELS = EXAMPLES / "hotels"
SCRIPTS = {"make.py", "word_reader.py"}
DATA = {path.name for path in HOTELS.iterdir() if path.is_file()} - SCRIPTS
RUNS = {name: HOTELS / f"{name}.run" for name in ("live", "hybrid", "rerank")}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hotels")
    assert run_here("hotels/make.py", str(folder)) == (0, "")
    return folder


def test_the_script_makes_the_files_byte_for_byte(made):
    assert {path.name for path in made.iterdir()} == DATA
    for name in DATA:
        assert (made / name).read_bytes() == (HOTELS / name).read_bytes(), name


def test_the_folder_is_small():
    assert sum((HOTELS / name).stat().st_size for name in DATA | SCRIPTS) < 400_000


def test_the_people_of_the_table_are_those_of_the_truth():
    drawn = gf.judging.sample_queries(HOTELS / "queries.tsv", 60, seed=25).queries
    people = gf.judging.merge_judgments(HOTELS / "people.csv", "median")
    truth = {}
    for line in (HOTELS / "truth.qrels").read_text().splitlines():
        query, _, doc, grade = line.split()
        truth.setdefault(query, {})[doc] = float(grade)
    assert dict(people) == {query: truth[query] for query in drawn}
    assert len(truth) == 240


def test_the_model_alone_takes_the_worst_run_for_the_best():
    verdicts = {
        name: [each.verdict.word for each in gf.compare(HOTELS / name, RUNS, "nDCG@10").differences]
        for name in ("model.qrels", "truth.qrels")
    }
    assert verdicts == {"model.qrels": ["better", "better"], "truth.qrels": ["better", "worse"]}


def test_the_examples_of_the_function_that_plays_the_model(monkeypatch):
    monkeypatch.syspath_prepend(HOTELS)
    assert doctest.testmod(importlib.import_module("word_reader")) == (0, 2)
