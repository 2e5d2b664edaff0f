"""`--weights`, `--clusters`, `--strata` and `--population` of every command that averages."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gainful as gf
from gainful.cli.commands import commands

QUERIES = [f"u{i // 3}_q{i}" for i in range(36)]
WEIGHTS = {query: 1 + i % 7 for i, query in enumerate(QUERIES)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("judgments.qrels").write_text("".join(f"{q} 0 a 1\n{q} 0 b 2\n" for q in QUERIES))
    for name, step in (("old", 2), ("new", 3)):
        lines = [
            f"{q} Q0 {doc} 0 {score} {name}\n"
            for i, q in enumerate(QUERIES)
            for doc, score in (("a", i % step), ("b", 0.5), ("c", 0.7))
        ]
        Path(f"{name}.run").write_text("".join(lines))
    rows = [
        f"{q},{WEIGHTS[q]},{q.partition('_')[0]},{'head' if i % 2 else 'tail'}\n"
        for i, q in enumerate(QUERIES)
    ]
    Path("queries.csv").write_text("query,visits,user,part\n" + "".join(rows))
    Path("visits.tsv").write_text("".join(f"{q}\t{w}\n" for q, w in WEIGHTS.items()))
    return tmp_path


def called(*words: str) -> Result:
    return CliRunner().invoke(commands, words)


def mean_in(result: Result) -> float:
    (run,) = json.loads(result.stdout)["runs"]
    mean: float = run["means"]["nDCG@10"]
    return mean


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "words", ["--weights visits --slices queries.csv", "--weights queries.json"]
)
def test_evaluate_takes_a_column_or_a_file(words: str) -> None:
    Path("queries.json").write_text(json.dumps(WEIGHTS))
    result = called("evaluate", "judgments.qrels", "old.run", *words.split(), "-f", "json")
    scores = gf.evaluate("judgments.qrels", "old.run", weights=WEIGHTS)
    assert result.exit_code == 0, result.output
    assert mean_in(result) == scores["nDCG@10"]


@pytest.mark.usefixtures("folder")
def test_compare_counts_clusters() -> None:
    words = "--slices queries.csv --weights visits --clusters user --by part"
    result = called("compare", "judgments.qrels", "old.run", "new.run", *words.split())
    assert result.exit_code == 0, result.output
    assert "36 queries in 12 clusters" in " ".join(result.stdout.split())
    assert "part" in result.stdout


@pytest.mark.usefixtures("folder")
def test_strata_are_weighted_back_to_the_population() -> None:
    words = "--slices queries.csv --by user --strata part --population head=10,tail=90 -f json"
    result = called("evaluate", "judgments.qrels", "old.run", *words.split())
    assert result.exit_code == 0, result.output
    strata = {q: "head" if i % 2 else "tail" for i, q in enumerate(QUERIES)}
    scores = gf.evaluate(
        "judgments.qrels", "old.run", strata=strata, population={"head": 10, "tail": 90}
    )
    assert mean_in(result) == scores["nDCG@10"]


@pytest.mark.usefixtures("folder")
def test_leaderboard_and_report_take_them() -> None:
    result = called("leaderboard", "judgments.qrels", "old.run", "new.run", "--clusters", "id:_")
    assert "36 queries in 12 clusters" in " ".join(result.stdout.split())
    page = called(
        "report", "judgments.qrels", "old.run", "--weights", "queries.json", "-o", "page.html"
    )
    assert "queries.json: expected a file" in str(page.exception)
    Path("queries.json").write_text(json.dumps(WEIGHTS))
    page = called(
        "report", "judgments.qrels", "old.run", "--weights", "queries.json", "-o", "page.html"
    )
    assert page.exit_code == 0, page.output
    assert "effective number" in Path("page.html").read_text()


WRONG = {
    "--population head": "--population expects STRATUM=NUMBER, such as head=1000,tail=20000, not 'head'.",
    "--population head=x": "not 'head=x'",
    "--weights nowhere.csv": "nowhere.csv: expected a file",
    "--bounds --grades 0..2 --clusters visits": "--bounds cannot be combined with --clusters",
    "--weights - --strata -": "Standard input can be read only once",
    "--population a=1": "strata=… with it",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", WRONG)
def test_wrong_options_are_rejected_in_one_line(words: str) -> None:
    result = called("evaluate", "judgments.qrels", "old.run", *words.split())
    assert WRONG[words] in f"{result.stderr}{result.exception}"


def test_ids_that_look_like_groups_are_reported_with_intervals(cli, tmp_path):
    ids = [f"user_{user}_q{number}" for user in range(20) for number in range(4)]
    files = [tmp_path / name for name in ("judgments.qrels", "a.run", "b.run")]
    files[0].write_text("".join(f"{query} 0 a 1\n" for query in ids))
    for file, odd in zip(files[1:], (2, 3), strict=True):
        scores = ((query, 2 if at % odd else 0) for at, query in enumerate(ids))
        file.write_text("".join(f"{query} Q0 a 1 {score} t\n{query} Q0 b 2 1 t\n" for query, score in scores))  # fmt: skip
    names = [str(file) for file in files]
    for line in (("compare", *names), ("evaluate", *names[:2], "--interval")):
        said = " ".join(cli(*line).stdout.split())
        assert "The ids look like 20 groups of queries ('user_0' …)" in said
        assert "--clusters id:_" in said
        grouped = " ".join(cli(*line, "--clusters", "id:_").stdout.split())
        assert "look like" not in grouped
        assert (
            "80 queries in 20 clusters, which count as independent; with fewer than 30" in grouped
        )
    assert "look like" not in cli("evaluate", *names[:2]).stdout
