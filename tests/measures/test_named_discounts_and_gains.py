"""Discounts and gains of one's own that have a name in the notation."""

import pickle
import sys

import numpy as np
import pytest

import gainful as gf
from gainful.measures import notation
from gainful.measures.notation import KINDS
from random_runs import random_cases

pytestmark = [
    pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning"),
    pytest.mark.usefixtures("_no_own_names"),
]

JUDGMENTS, RUN = random_cases(range(30), grades=(0, 0, 1, 2, 3), scores=(0.1, 0.5, 0.7, 3.0))
LIST = [3, 2, 3, 0, 1, 2]


def looked_at(ranks):
    return 0.5 ** (ranks - 1)


def cubed(grade):
    return grade**3


patience = gf.measures.define("patience", discount=looked_at)
page = gf.measures.define("page", discount=[1, 0.5, ...])
steep = gf.measures.define("steep", gain={1: 1, 2: 10, 3: 100})
cubes = gf.measures.define("cubes", gain=cubed)


def test_worked_by_hand():
    gf.measures.use(patience, page, steep, cubes)
    assert gf.dcg([3, 2, 1], discount="patience") == 3 + 2 / 2 + 1 / 4
    assert gf.dcg([3, 2, 1], discount=patience) == 4.25
    assert gf.dcg([3, 2, 1], discount="page") == 3 + 2 / 2 + 1 / 2
    assert gf.dcg([3, 2, 1], gain="steep", discount="page") == 100 + 10 / 2 + 1 / 2
    assert gf.cg([3, 2, 1], gain="cubes") == 27 + 8 + 1
    # The best order of the two is 2, 1: 1 + 2/2 over 2 + 1/2.
    found = gf.evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 2, "b": 1}}, "nDCG(discount=patience)")
    assert found.means == {"nDCG(discount=patience)": 2 / 2.5}


@pytest.mark.parametrize(
    ("named", "plain"),
    [
        ({"discount": "patience"}, {"discount": looked_at}),
        ({"discount": "page"}, {"discount": "[1, 0.5, ...]"}),
        ({"gain": "steep"}, {"gain": "{1: 1, 2: 10, 3: 100}"}),
        ({"gain": "cubes", "discount": "page"}, {"gain": cubed, "discount": [1, 0.5, ...]}),
    ],
    ids=["patience", "page", "steep", "cubes"],
)
@pytest.mark.parametrize("ties", ["doc", "average"])
def test_a_name_gives_the_numbers_of_what_it_stands_for(named, plain, ties):
    gf.measures.use(patience, page, steep, cubes)
    own, twin = gf.Measure("nDCG", k=5, **named), gf.Measure("nDCG", k=5, **plain)
    found = gf.evaluate(JUDGMENTS, RUN, [own, twin], policy={"ties": ties})
    assert (found.values[:, 0] == found.values[:, 1]).all()
    assert gf.measure(str(own)) == own != twin
    assert pickle.loads(pickle.dumps(own)) == own  # noqa: S301
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    compared = gf.compare(JUDGMENTS, {"one": RUN, "two": other}, [own, twin])
    assert compared["two", str(own)].difference == compared["two", twin].difference


def test_tensors_and_losses_take_names():
    gf.measures.use(page, steep)
    scores, labels = np.array([[0.5, 0.1, 0.9]]), np.array([[1.0, 3.0, 0.0]])
    for name, plain in (("page", [1, 0.5, ...]), (page, [1, 0.5, ...])):
        found = gf.metrics.ndcg(scores, labels, discount=name, gain="steep")
        assert found == gf.metrics.ndcg(scores, labels, discount=plain, gain={1: 1, 2: 10, 3: 100})
    import torch

    tensors = torch.tensor(scores), torch.tensor(labels)
    named = gf.losses.lambda_loss(*tensors, discount="page")
    assert named == gf.losses.lambda_loss(*tensors, discount=[1, 0.5, ...])


def test_names_are_given_on_purpose():
    for text in ("nDCG(discount=patience)@10", "nDCG(gain=steep)@10"):
        with pytest.raises(gf.errors.MeasureError, match=r"found '(patience|steep)'. Choices"):
            gf.measure(text)
    # As a value, each is used where it stands.
    assert str(gf.Measure("nDCG", k=3, discount=patience)) == "nDCG(discount=patience)@3"
    gf.measures.use(patience, f"{__name__}:steep")
    assert gf.measure("nDCG(discount=patience)@10").parameters["discount"] == patience
    assert gf.measure("nDCG(gain=steep)@10").parameters["gain"] == steep
    with pytest.raises(gf.errors.MeasureError, match=r"found 'pashence'. Did you mean 'patience'"):
        gf.measure("nDCG(discount=pashence)@10")
    with pytest.raises(gf.errors.MeasureError, match=r"found 'steap'. Did you mean 'steep'"):
        gf.measure("nDCG(gain=steap)@10")
    with pytest.raises(gf.errors.MeasureError, match="found 'patience'"):
        gf.measure("nDCG(gain=patience)@10")  # each kind has names of its own


def test_a_clash_of_names_names_both():
    gf.measures.use(patience)
    gf.measures.use(patience)  # the same again is none
    scope = {"__name__": "elsewhere", "gf": gf}
    exec("other = gf.measures.define('Patience', discount=[1, 0.2])", scope)  # noqa: S102
    with pytest.raises(
        gf.errors.MeasureError, match=rf"use 'elsewhere:Patience'.*which is {__name__}:patience"
    ):
        gf.measures.use(scope["other"])
    for name, worth, words in (
        ("log", {"discount": [1]}, r"'log', which is the discount 1/log_b\(i\+1\)"),
        ("Exp2", {"gain": {1: 1}}, r"'Exp2', which is the gain 2\^g"),
    ):
        with pytest.raises(gf.errors.MeasureError, match=words):
            gf.measures.use(gf.measures.define(name, **worth))


def test_a_definition_is_replaced_by_its_place():
    gf.measures.use(gf.measures.define("mine", discount=[1, 0.5]))
    assert gf.dcg(LIST, discount="mine") == 4
    assert gf.measure("DCG(discount=mine)").parameters["discount"].table == (1, 0.5)
    gf.measures.use(gf.measures.define("mine", discount=[1]))
    assert gf.dcg(LIST, discount="mine") == 3
    assert gf.measure("DCG(discount=mine)").parameters["discount"].table == (1,)


def test_by_an_entry_point(tmp_path, monkeypatch):
    (tmp_path / "discount_team.py").write_text(
        "import gainful as gf\n"
        "waits = gf.measures.define('waits', discount=[1, 0.5])\nfew = gf.measures.define('few', gain={1: 7})\n"
    )
    folder = tmp_path / "team-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: team\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(
        "[gainful.discounts]\nwaits = discount_team:waits\nwrong = discount_team:few\nfast = discount_team:waits\n"
        "[gainful.gains]\nfew = discount_team:few\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert "discount_team" not in sys.modules
    assert gf.dcg([1, 1, 1], discount="waits", gain="few") == 7 + 3.5
    measure = gf.measure("nDCG(gain=few, discount=waits)@10")
    assert gf.measure(str(measure)) == measure
    with pytest.raises(gf.errors.MeasureError, match=r"few: expected a discount made by"):
        gf.measure("nDCG(discount=wrong)")
    with pytest.raises(gf.errors.MeasureError, match="the name waits as entry point, found fast"):
        gf.measure("nDCG(discount=fast)")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: gf.measures.define("a b", discount=[1]),
            "letters, digits and underscores, such as 'patie",
        ),
        (lambda: gf.measures.define(3, gain={1: 1}), "letters, digits and underscores"),
        (lambda: gf.measures.define("x", discount=[1, 2]), "found 2 at rank 2"),
        (lambda: gf.measures.define("x", gain={}), "an empty table"),
        (lambda: gf.measures.define("x", gain=[1, 2]), "a table that maps grades"),
        (
            lambda: gf.measures.define("x", discount=[1], gain={1: 1}),
            "and a discount, found gain as well",
        ),
        (
            lambda: gf.measures.define("x", discount=[1], cutoff=True),
            "and a discount, found cutoff as well",
        ),
        (
            lambda: gf.measures.define("x", gain={1: 1}, needs_run=False),
            "a gain, found needs_run",
        ),
        (lambda: gf.measures.define("x", gain={1: 1}, range=(0, 1)), "a gain, found range"),
        (
            lambda: gf.measures.use(gf.measure("nDCG").parameters["discount"]),
            "made by gainful.measures.define, found Discount",
        ),
    ],
    ids=range(10),
)
def test_a_bad_definition_is_told(call, words):
    with pytest.raises(gf.errors.MeasureError, match=words):
        call()


def test_saved_by_name(tmp_path):
    measure = gf.Measure("nDCG", k=5, discount=patience)
    scores = gf.evaluate(JUDGMENTS, RUN, measure)
    with pytest.raises(gf.errors.InputError, match=r"gainful\.measures\.use registers your own"):
        gf.comparison.save_baseline(scores, tmp_path / "base.json")
    gf.measures.use(patience)
    gf.comparison.save_baseline(scores, tmp_path / "base.json")
    assert gf.comparison.read_baseline(tmp_path / "base.json").measures == (measure,)


TEAM = """
import gainful as gf
patience = gf.measures.define("tenth", discount=lambda ranks: 0.1 ** (ranks - 1))
steep = gf.measures.define("steep", gain={1: 1, 2: 10})
"""


def test_on_the_command_line(cli, files, tmp_path, monkeypatch):
    files("tenth_team.py", TEAM)
    judgments, run = files("j", "q 0 a 1\nq 0 b 2\n"), files("r", "q 0 a 1 2 t\nq 0 b 2 1 t\n")
    monkeypatch.chdir(tmp_path)
    places = ("--define", "tenth_team:patience", "--define", "tenth_team:steep")
    text = "DCG(gain=steep, discount=tenth)@10"
    done = cli("evaluate", judgments, run, *places, "-m", text, "-f", "csv")
    assert done.stdout.splitlines()[-1].endswith(",2.0")  # 1 + 10 · 0.1
    monkeypatch.setenv("GAINFUL_TRUST", "1")
    (tmp_path / "gainful.toml").write_text(
        f'define = ["tenth_team:patience", "tenth_team:steep"]\nmeasures = "{text}"\n'
    )
    for names in KINDS:
        names.in_use.clear()
    notation.forget()
    done = cli("evaluate", judgments, run, "-f", "csv")
    assert done.stdout.splitlines()[-1].endswith(",2.0")
    done = cli("evaluate", judgments, run, "-m", "DCG(discount=tent)")
    assert done.returncode == 2
    assert "Did you mean 'tenth'" in " ".join(done.stderr.split())
    files("broken_team.py", "1/0")
    done = cli("evaluate", judgments, run, "--define", "broken_team:x")
    assert done.returncode == 2
    assert "a module that can be imported, found ZeroDivisionError" in " ".join(done.stderr.split())
