"""`gainful evaluate --save-baseline`."""

import pytest

import gainful as gf
from gainful.evaluation.saved_baseline import is_baseline

JUDGMENTS = "007 0 a 1\n007 0 b 0\n7 0 a 2\n"
RUN = "007 Q0 b 1 3 t\n007 Q0 a 2 2 t\n"


@pytest.fixture
def paths(files):
    return files("j.qrels", JUDGMENTS), files("one.run", RUN)


@pytest.mark.parametrize("name", ["main.json", "main.json.gz", "main.json.zst"])
def test_the_baseline_is_saved_and_the_table_printed(name, cli, paths, tmp_path):
    target = tmp_path / name
    done = cli("evaluate", *paths, "-m", "nDCG@5", "-m", "CG", "--save-baseline", target)
    assert done.returncode == 0, done.stderr
    assert done.stdout == cli("evaluate", *paths, "-m", "nDCG@5", "-m", "CG").stdout
    scores = gf.evaluate(*paths, ["nDCG@5", "CG"])
    read = gf.comparison.read_baseline(target)
    assert read.queries == ("7", "007")
    assert read.values.tobytes() == scores.values.tobytes()
    assert read.signatures["CG"] == scores.signature("CG")
    assert read.judged.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["{two}", "--save-baseline", "{new}"], "saves the scores of exactly one RUN"),
        (
            ["--bounds", "--grades", "0,1", "--save-baseline", "{new}"],
            "--bounds cannot be combined with --save-baseline",
        ),
        (
            ["--subtopics", "--save-baseline", "{new}"],
            "--subtopics cannot be combined with --save-baseline",
        ),
        (["--save-baseline", "-"], "exactly one RUN, to a file"),
        (["--save-baseline", "{new}", "-o", "{new}"], "needs a file of its own"),
        (["--save-baseline", "{run}"], "is one of the inputs"),
        (["--save-baseline", "{new}/in/none"], "a file that can be written"),
    ],
)
def test_failures(options, told, cli, paths, files, tmp_path):
    two, new = files("two.run", RUN), tmp_path / "new.json"
    given = [option.format(two=two, new=new, run=paths[1]) for option in options]
    done = cli("evaluate", *paths, *given)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not new.exists()
    assert paths[1].read_text() == RUN
    assert not is_baseline(paths[1])
