"""The command about click logs: its choices, its questions, and what it rejects."""

import shutil

import pytest

import gainful as gf
from example_programs import EXAMPLES
from gainful.arithmetic.kernels.click_models import MODELS
from gainful.behaviour.coec_dialects import DIALECTS
from gainful.cli import clicks

LOG = ["clicks", "impressions.csv", "--columns", "doc=product"]


@pytest.fixture
def log(tmp_path, monkeypatch):
    for name in ("impressions.csv", "interleaved.csv", "old.run", "new.run"):
        shutil.copy(EXAMPLES / "clicks" / name, tmp_path)
    monkeypatch.chdir(tmp_path)


def test_the_choices_are_those_of_the_package():
    assert tuple(MODELS) == clicks._MODELS
    assert tuple(DIALECTS) == clicks._DIALECTS
    assert {*clicks._QUESTIONS.values()} <= {*gf.behaviour.__all__}


def test_grades_in_a_file_are_judgments(log, cli):
    for name in ("c.qrels", "c.csv", "c.parquet"):
        assert cli(*LOG, "--model", "ctr", "-o", name).returncode == 0
        assert gf.evaluate(name, "new.run", "nDCG@5")["nDCG@5"] > 0.9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--show", "log", "--model", "pbm"], "--model needs --show grades"),
        (["--show", "models", "--run", "new.run"], "--run needs --show earnings or preference"),
        (["--show", "earnings"], "--show earnings requires one --run"),
        (["--thresholds", "0.5,0.1"], "ascending numbers above 0"),
        (["--interleave", "--actions", "click=1"], "cannot be combined with"),
        (["--actions", "click=much"], "--actions"),
        (["old.run"], "Expected one LOG"),
    ],
)
def test_what_does_not_fit_is_rejected(log, cli, arguments, said):
    done = cli(*LOG, *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_questions_are_answered(log, cli):
    assert "dr DCG@5" in cli(*LOG, "--show", "earnings", "--run", "new.run", "--depth", "5").stdout
    assert "wins" in cli("clicks", "interleaved.csv", "--show", "preference").stdout
    assert cli("clicks", "old.run", "new.run", "--interleave", "-f", "csv").stdout.startswith(
        "query,position,doc,team"
    )


@pytest.mark.parametrize("show", [["--show", "models"], ["--show", "positions"], ["-o", "c.qrels"]])
def test_oddities_of_the_log_are_reported_with_every_answer(log, cli, tmp_path, show):
    head, first, *others = (tmp_path / "impressions.csv").read_text().splitlines()
    (tmp_path / "odd.csv").write_text("\n".join([head, first, first, *others]))
    done = cli("clicks", "odd.csv", "--columns", "doc=product", *show)
    assert done.returncode == 0
    assert "odd.csv: Documents shown again in the same list: 1 (counted once" in done.stderr
