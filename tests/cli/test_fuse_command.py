"""`gainful fuse`, as a user calls it."""

from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS, KEYWORD, HYBRID = (
    str(COOKING / name) for name in ("judgments.qrels", "keyword.run", "hybrid.run")
)
RUNS = {"keyword": KEYWORD, "hybrid": HYBRID}


def lines_of(fused, tag="fused"):
    return [
        f"{query} Q0 {doc} {rank} {score!r} {tag}"
        for query, docs in fused.items()
        for rank, (doc, score) in enumerate(docs.items(), 1)
    ]


def test_it_writes_what_the_function_returns(cli):
    done = cli("fuse", KEYWORD, HYBRID)
    assert done.returncode == 0
    fused = gf.fuse(RUNS)
    assert done.stdout.splitlines() == lines_of(fused)
    assert done.stderr.splitlines() == [fused.summary, *fused.notes]


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        (["--k", "10", "--depth", "5"], {"k": 10, "depth": 5}),
        (["--method", "sum", "--weights", "1,2.5"], {"method": "sum", "weights": [1, 2.5]}),
        (["--method", "mnz", "--normalise", "zscore"], {"method": "mnz", "normalise": "zscore"}),
        (["--method", "rbc", "--p", "0.5", "--top", "3"], {"method": "rbc", "p": 0.5, "top": 3}),
        (["--method", "borda", "--ties", "average"], {"method": "borda", "ties": "average"}),
    ],
)
def test_options_are_arguments(cli, typed, given):
    done = cli("fuse", KEYWORD, HYBRID, *typed)
    assert done.returncode == 0
    assert done.stdout.splitlines() == lines_of(gf.fuse(RUNS, **given))


def test_one_of_the_runs_may_be_standard_input(cli):
    done = cli("fuse", KEYWORD, "-", "--tag", "mine", stdin=Path(HYBRID).read_bytes())
    assert done.returncode == 0
    assert done.stdout.splitlines() == lines_of(gf.fuse(RUNS), "mine")
    done = cli("fuse", "-", "-")
    assert done.returncode == 2
    assert "Standard input can be read only once" in done.stderr


@pytest.mark.parametrize("ending", ["run", "csv", "tsv", "jsonl", "parquet", "run.gz", "tsv.zst"])
def test_every_format_reads_back_bit_for_bit(cli, tmp_path, ending):
    target = tmp_path / f"fused.{ending}"
    done = cli("fuse", KEYWORD, HYBRID, "-o", target)
    assert (done.returncode, done.stdout) == (0, "")
    again = gf.fuse({"one": target, "two": target}, "max", normalise="none")
    assert dict(again) == dict(gf.fuse(RUNS))
    assert (
        gf.evaluate(JUDGMENTS, target)["nDCG@10"]
        == gf.evaluate(JUDGMENTS, gf.fuse(RUNS))["nDCG@10"]
    )


def test_settings_are_chosen_and_the_run_of_the_best_is_written(cli, tmp_path):
    target = tmp_path / "fused.run"
    arguments = (
        "--method",
        "sum",
        "--judgments",
        JUDGMENTS,
        "-m",
        "nDCG@5",
        "--folds",
        5,
        "--seed",
        4,
    )
    done = cli("fuse", KEYWORD, HYBRID, *arguments, "-o", target)
    assert done.returncode == 0
    tuned = gf.fusion.tune(JUDGMENTS, RUNS, "nDCG@5", method="sum", folds=5, seed=4)
    words = " ".join(done.stdout.split())
    assert tuned.summary in words
    assert target.read_text().splitlines() == lines_of(gf.fuse(RUNS, **tuned.arguments))
    done = cli(
        "fuse", KEYWORD, HYBRID, "--judgments", JUDGMENTS, "--k", "10,60", "--weights", "1,1:1,2"
    )
    tuned = gf.fusion.tune(JUDGMENTS, RUNS, k=[10, 60], weights=[[1, 1], [1, 2]])
    assert done.returncode == 0
    assert tuned.summary in " ".join(done.stdout.split())
    assert len(tuned.tried) == 4


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--method", "rff"], "Did you mean 'rrf'?"),
        (["--k", "-1"], "k: expected a non-negative number"),
        (["--k", "x"], "--k expects numbers"),
        (["--k", "1,2"], "Several values for --k require --judgments."),
        (["--weights", "1"], "2 numbers of at least 0"),
        (["--weights", "grid"], "Several values for --weights require --judgments."),
        (["--weights", "1,nan"], "2 numbers of at least 0"),
        (["--normalise", "minmax"], "uses only ranks"),
        (["--folds", "5"], "--folds requires --judgments."),
        (["-m", "AP"], "--measure requires --judgments."),
        (["--missing", "skip"], "--missing requires --judgments."),
        (["--chunks", "#"], "--chunks requires --judgments."),
        (["--ties", "best"], "ties: expected auto or doc or doc_ascending or average"),
        (["--judgments", JUDGMENTS, "--folds", "many"], "--folds expects loo or a number"),
        (["-o", KEYWORD], "is one of the inputs"),
        (["-o", "fused.xlsx"], "promises a spreadsheet"),
        (["--tag", "two words"], "a word without white space"),
    ],
)
def test_what_is_refused(cli, typed, message):
    done = cli("fuse", KEYWORD, HYBRID, *typed)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())


def test_a_projects_file_has_the_ties_and_nothing_else_of_its_policy(cli, tmp_path, monkeypatch):
    (tmp_path / "gainful.toml").write_text(
        'measures = ["AP"]\n[policy]\nmissing = "skip"\nties = "average"\n'
    )
    monkeypatch.chdir(tmp_path)
    done = cli("fuse", KEYWORD, HYBRID)
    assert done.returncode == 0
    assert done.stdout.splitlines() == lines_of(gf.fuse(RUNS, ties="average"))


def test_the_former_name_of_judgments_still_works(cli):
    words = ("fuse", KEYWORD, HYBRID, "--k", "10,60")
    now, former = cli(*words, "--judgments", JUDGMENTS), cli(*words, f"--tune={JUDGMENTS}")
    assert (former.returncode, former.stdout) == (0, now.stdout)
    assert "--tune is now --judgments; the old form works until the next release." in former.stderr
    assert now.stderr == ""
