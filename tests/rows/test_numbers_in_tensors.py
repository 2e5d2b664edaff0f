"""Arrays and tensors in the place of a number: one without dimensions is the number in it."""

import numpy as np
import pytest
import torch

import gainful as gf

GRADES = {"a": 1, "b": 0, "c": 0}
SCORES = {"a": 0.5, "b": 0.75, "c": 0.25}  # which every type of floats holds

SCALARS = {
    "array": np.array,
    "tensor": torch.tensor,
    "in training": lambda number: torch.tensor(float(number), requires_grad=True),
    "bfloat16": lambda number: torch.tensor(number).bfloat16(),
}
ARRAYS = {
    "array of one": lambda number: np.array([number]),
    "tensor of one": lambda number: torch.tensor([number]),
    "tensor of two": lambda number: torch.tensor([number, number]),
    "in training, of one": lambda number: torch.tensor([float(number)], requires_grad=True),
}
WAYS = {
    "evaluate": lambda judgments, run: gf.evaluate(judgments, run, "nDCG"),
    "RR": lambda judgments, run: gf.evaluate(judgments, run, "RR"),
    "AP": lambda judgments, run: gf.evaluate(judgments, run, "AP"),
    "single": lambda judgments, run: gf.evaluate(
        judgments, run, "AP", policy={"precision": "single"}
    ),
    "ties": lambda judgments, run: gf.evaluate(judgments, run, "AP", policy={"ties": "doc"}),
    "compare": lambda judgments, run: gf.compare(judgments, {"x": run, "y": {"q": SCORES}}, "AP"),
    "explain": lambda judgments, run: gf.explain(judgments, run, "nDCG", query="q"),
    "bounds": lambda judgments, run: gf.bounds(judgments, run, "nDCG@3", grades=[0, 1]),
}


def dicts(make, numbers):
    return {"q": {doc: make(number) for doc, number in numbers.items()}}


def forms(make, numbers, name):
    """The numbers of a query in each form of Python that is no dict of dicts."""
    made = {doc: make(number) for doc, number in numbers.items()}
    records = [{"query": "q", "doc": doc, name: number} for doc, number in made.items()]
    return {
        "pairs": {"q": [*made.items()]},
        "records": records,
        "tuples": [tuple(record.values()) for record in records],
        "hits": {"q": [{"doc": doc, name: number} for doc, number in made.items()]},
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scalar", SCALARS)
def test_one_without_dimensions_is_a_number_in_dicts(way, scalar):
    make = SCALARS[scalar]
    expected = str(WAYS[way]({"q": GRADES}, {"q": SCORES}))
    assert str(WAYS[way]({"q": GRADES}, dicts(make, SCORES))) == expected
    assert str(WAYS[way](dicts(make, GRADES), {"q": SCORES})) == expected


@pytest.mark.parametrize("form", ["pairs", "records", "tuples"])
@pytest.mark.parametrize("scalar", SCALARS)
def test_one_without_dimensions_is_a_number_in_rows(form, scalar):
    make = SCALARS[scalar]
    expected = gf.evaluate({"q": GRADES}, {"q": SCORES}, "nDCG")["nDCG"]
    run, judgments = (
        forms(make, numbers, name)[form] for numbers, name in ((SCORES, "score"), (GRADES, "grade"))
    )
    assert gf.evaluate({"q": GRADES}, run, "nDCG")["nDCG"] == expected
    assert gf.evaluate(judgments, {"q": SCORES}, "nDCG")["nDCG"] == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("array", ARRAYS)
def test_an_array_is_refused_with_query_document_and_what_to_write(way, array):
    make = ARRAYS[array]
    told = (
        r"query 'q', document 'a': expected a finite number as the {}, found .* of shape .*item\(\)"
    )
    with pytest.raises(gf.errors.InputError, match=told.format("score")):
        WAYS[way]({"q": GRADES}, dicts(make, SCORES))
    with pytest.raises(gf.errors.InputError, match=told.format("grade")):
        WAYS[way](dicts(make, GRADES), {"q": SCORES})


@pytest.mark.parametrize("way", WAYS)
def test_an_array_behind_numbers_is_refused(way):
    mixed = SCORES | {"b": torch.tensor([0.75])}
    with pytest.raises(gf.errors.InputError, match=r"document 'b': .*item\(\)"):
        WAYS[way]({"q": GRADES}, {"q": mixed})
    graded = GRADES | {"b": torch.tensor([0])}
    with pytest.raises(gf.errors.InputError, match=r"document 'b': .*item\(\)"):
        WAYS[way]({"q": graded}, {"q": SCORES})


@pytest.mark.parametrize("way", WAYS)
def test_a_tensor_behind_numbers_is_a_number(way):
    expected = str(WAYS[way]({"q": GRADES}, {"q": SCORES}))
    mixed = SCORES | {"b": torch.tensor(0.75).bfloat16()}
    assert str(WAYS[way]({"q": GRADES}, {"q": mixed})) == expected


@pytest.mark.parametrize("form", ["pairs", "records", "tuples"])
@pytest.mark.parametrize("array", ARRAYS)
def test_an_array_in_rows_is_refused_with_what_to_write(form, array):
    make = ARRAYS[array]
    with pytest.raises(gf.errors.InputError, match=r"score, found .* of shape .*item\(\)"):
        gf.evaluate({"q": GRADES}, forms(make, SCORES, "score")[form])


@pytest.mark.parametrize("array", ARRAYS)
def test_check_and_write_run_refuse_arrays(array, tmp_path):
    run = dicts(ARRAYS[array], SCORES)
    found = gf.check({"q": GRADES}, {"mine": run})
    assert "3 rows cannot be read" in str(found)
    with pytest.raises(gf.errors.InputError, match=r"document 'a': .*item\(\)"):
        gf.write_run(run, tmp_path / "mine.run")


@pytest.mark.parametrize("scalar", SCALARS)
def test_check_and_write_run_take_numbers(scalar, tmp_path):
    run = dicts(SCALARS[scalar], SCORES)
    checked = str(gf.check({"q": GRADES}, {"mine": {"q": SCORES}}))
    assert str(gf.check({"q": GRADES}, {"mine": run})) == checked
    gf.write_run(run, tmp_path / "mine.run")
    gf.write_run({"q": SCORES}, tmp_path / "plain.run")
    lines = [(tmp_path / f"{name}.run").read_text() for name in ("mine", "plain")]
    assert lines[0] == lines[1]


def test_runs_to_fuse_may_have_tensors():
    runs = {"x": {"q": SCORES}, "y": {"q": SCORES | {"b": torch.tensor(0.75).bfloat16()}}}
    expected = gf.fuse({"x": {"q": SCORES}, "y": {"q": SCORES}})
    assert str(gf.fuse(runs)) == str(expected)


def test_what_holds_no_number_is_refused():
    without = torch.tensor(0.5, device="meta")
    for odd in (without, torch.tensor(0.5 + 1j)):
        for run in (
            {"q": {"a": odd, "b": 1}},
            {"q": {"b": 1, "a": odd}},
            {"q": [("a", odd), ("b", 1)]},
        ):
            with pytest.raises(gf.errors.InputError, match="score, found"):
                gf.evaluate({"q": GRADES}, run)


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_integers_that_are_not_held_exactly_are_told(make):
    with pytest.raises(gf.errors.InputError, match="holds exactly"):
        gf.evaluate({"q": GRADES}, {"q": {"a": make(2**53 + 1), "b": make(1)}})
