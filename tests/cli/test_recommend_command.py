"""`gainful recommend`: what it prints, and what it refuses."""

import csv
import io
import json
from pathlib import Path

import pytest

import gainful as gf

FILMS = Path(__file__).parents[2] / "examples" / "films"
POPULAR, PERSONAL = str(FILMS / "popular.csv"), str(FILMS / "personal.csv")
GIVEN = [
    "--items", str(FILMS / "items.csv"), "--separator", "|", "--history", str(FILMS / "history.csv"),
    "--judgments", str(FILMS / "liked.csv"),
]  # fmt: skip
IN_PYTHON = {
    "items": FILMS / "items.csv", "separator": "|", "history": FILMS / "history.csv",
    "judgments": FILMS / "liked.csv",
}  # fmt: skip
MEASURES = ["Coverage@3", "Novelty@3", "ILD(by=genre)@3"]


def asked(*measures):
    return [word for measure in measures for word in ("-m", measure)]


def rows(text):
    return [*csv.DictReader(io.StringIO(text))]


def test_the_values_are_those_of_python(cli):
    done = cli("recommend", POPULAR, PERSONAL, *GIVEN, *asked(*MEASURES), "-f", "csv")
    assert done.returncode == 0, done.stderr
    found = gf.recommending.evaluate_recommendation_runs([POPULAR, PERSONAL], MEASURES, **IN_PYTHON)
    assert [{**row, "run": ""} for row in rows(done.stdout)] == [
        {"run": "", **{name: repr(value) for name, value in scores.means.items()}}
        for scores in found.values()
    ]
    assert [row["run"] for row in rows(done.stdout)] == ["popular", "personal"] == [*found]
    assert "Coverage@3: computed over the whole run" in done.stderr


def test_one_run_says_what_each_value_is_of(cli):
    done = cli("recommend", POPULAR, *GIVEN)
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert lines["Gini@10"].endswith("the run")
    assert lines["Novelty@10"].endswith("mean of 6 users")
    names = ["ILD(by=genre)@10", "ILD(by=tier)@10", "Serendipity@10", "Miscalibration(by=tier)@10"]
    assert {*names} <= {*lines}
    assert "segment=head)@10" in done.stdout


def test_users_intervals_and_comparisons(cli):
    call = ["recommend", POPULAR, PERSONAL, *GIVEN, *asked(*MEASURES)]
    users = rows(cli(*call, "--per-user", "-f", "csv").stdout)
    assert [*users[0]] == ["run", "query", *MEASURES[1:]]
    assert len(users) == 12
    intervals = rows(cli(*call, "--interval", "t", "--level", "0.9", "-f", "csv").stdout)
    assert [*intervals[0]][3:] == ["90% low", "90% high", "queries"]
    assert [intervals[0][name] for name in ("90% low", "queries")] == ["", ""]
    done = cli(*call, "--compare", "-f", "json")
    compared = json.loads(done.stdout)
    assert {each["measure"] for each in compared["differences"]} == {*MEASURES[1:]}
    words = {each["measure"]: each["verdict"] for each in compared["differences"]}
    assert {*words.values()} <= {"better", "worse", "higher", "lower", "inconclusive"}
    found = gf.recommending.evaluate_recommendation_runs(
        {"popular": POPULAR, "personal": PERSONAL}, MEASURES, **IN_PYTHON
    )
    same = gf.comparison.compare_scores(found)
    assert [each["difference"] for each in compared["differences"]] == [
        each.difference for each in same.differences
    ]
    assert json.loads(cli(*call, "-f", "json").stdout)["runs"][0]["run_values"] == {
        "Coverage@3": 0.6
    }


def test_weights_and_clusters_of_users(cli, tmp_path):
    lists = gf.recommending.evaluate_recommendations(PERSONAL, "Novelty@3", **IN_PYTHON)
    users = {user: {"visits": at + 1, "team": at % 2} for at, user in enumerate(lists.queries)}
    weights = {user: row["visits"] for user, row in users.items()}
    table = tmp_path / "users.csv"
    lines = [f"{user},{row['visits']},{row['team']}" for user, row in users.items()]
    table.write_text("\n".join(["user,visits,team", *lines]))
    named = ["--slices", str(table), "--weights", "visits"]
    call = ["recommend", POPULAR, PERSONAL, *GIVEN, *asked("Novelty@3"), *named]
    runs = {"popular": POPULAR, "personal": PERSONAL}
    found = gf.recommending.evaluate_recommendation_runs(
        runs, "Novelty@3", weights=weights, **IN_PYTHON
    )
    values = dict(zip(lists.queries, lists.values[:, 0].tolist(), strict=True))
    mean = sum(weights[u] * v for u, v in values.items()) / sum(weights.values())
    assert found["personal"]["Novelty@3"] == pytest.approx(mean)
    done = cli(*call, "-f", "csv")
    assert [row["Novelty@3"] for row in rows(done.stdout)] == [
        repr(own["Novelty@3"]) for own in found.values()
    ]
    assert "weighted: 6 users determine a mean as well as" in " ".join(done.stderr.split())
    (compared,) = json.loads(cli(*call, "--compare", "-f", "json").stdout)["differences"]
    assert compared["run_mean"] == found["personal"]["Novelty@3"]
    (clustered,) = json.loads(cli(*call, "--compare", "--clusters", "team", "-f", "json").stdout)[
        "differences"
    ]
    assert clustered["clusters"] == 2
    with pytest.raises(gf.errors.InputError, match="weights: expected a weight for every query"):
        gf.recommending.evaluate_recommendations(
            PERSONAL, "Novelty@3", weights={"nobody": 1}, **IN_PYTHON
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--per-user", "--compare"], "--per-user cannot be combined with --compare"),
        (["--per-user", "--interval"], "--per-user cannot be combined with --interval"),
        (["--compare"], "--compare needs at least two RUNs"),
        (["--test", "t"], "--test requires --compare"),
        (["--level", "0.9"], "--level requires --interval or --compare"),
        (["--history", "nowhere.csv"], "nowhere.csv"),
        (["-m", "nDCG@10"], "For measures of relevance, use gf.evaluate() or gainful evaluate"),
        (["-m", "hits@10"], "Did you mean 'HitRate'"),
        (["--items", "-", "--history", "-"], "Standard input can be read only once"),
        (["-o", POPULAR], "is one of the inputs"),
        (["-m", "Coverage@3"], "Give history=…, or --history"),
    ],
)
def test_refusals(cli, words, said):
    done = cli("recommend", POPULAR, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_project_names_the_judgments(cli, tmp_path, monkeypatch):
    text = (FILMS / "liked.csv").read_text().replace("\n", ",1\n").replace("item,1", "item,love")
    (tmp_path / "liked.csv").write_text(text)
    settings = 'measures = ["nDCG@10"]\n[columns]\ngrade = "love"\n'
    (tmp_path / "gainful.toml").write_text(f'judgments = "liked.csv"\n{settings}')
    monkeypatch.chdir(tmp_path)
    call = ["recommend", PERSONAL, *GIVEN[:6], "-m", "Serendipity@3"]
    done = cli(*call)
    assert done.returncode == 0, done.stderr
    assert done.stdout == cli("--no-config", *call, *GIVEN[6:]).stdout
    assert done.stderr == "gainful.toml: judgments, columns\n"
    assert cli("--no-config", *call).returncode == 2
    (tmp_path / "gainful.toml").write_text(settings)  # which has nothing for it
    plain = cli("recommend", PERSONAL, "-m", "Personalisation@3")
    assert (plain.returncode, plain.stderr) == (0, "")


def test_the_catalogue_is_listed(cli):
    listed = cli("measures", "--recommend", "-f", "csv").stdout
    names = [row["measure"] for row in rows(listed)]
    assert names == [family.name for family in gf.recommending.recommendation_catalogue()]
    told = cli("measures", "--recommend", "gini").stdout
    assert "describes the run as a whole" in told
    assert "needs       items, or a history" in told
    done = cli("measures", "--recommend", "--subtopics")
    assert "--subtopics cannot be combined with --recommend." in done.stderr


def test_the_former_name_of_interval_still_works(cli):
    call = ["recommend", POPULAR, *GIVEN, *asked(*MEASURES)]
    for more in ([], ["--interval", "t"]):
        now, former = cli(*call, *(more or ["--interval"])), cli(*call, "--intervals", *more)
        assert (former.returncode, former.stdout) == (0, now.stdout)
        assert "--intervals is now --interval" in former.stderr


LIKED = ["--judgments", str(FILMS / "liked.csv")]
HISTORY = ["--history", str(FILMS / "history.csv")]


@pytest.mark.parametrize("how", [{}, {"gamma": -1}, {"exposures": POPULAR}, {"clip": 0.5}])
def test_debias(cli, how):
    words = [word for name, value in how.items() for word in (f"--{name}", value)]
    given = [POPULAR, PERSONAL, *LIKED, *HISTORY, *words]
    done = cli("recommend", *given, "--debias", "snips", "-m", "R@3", "-f", "json")
    assert done.returncode == 0, done.stderr
    runs = {"popular": POPULAR, "personal": PERSONAL}
    found = gf.recommending.debias(
        FILMS / "liked.csv", runs, "R@3", history=FILMS / "history.csv", **how
    )
    assert json.loads(done.stdout)["rows"] == [dict(row) for row in found.rows]
    assert json.loads(done.stdout)["effective"] == found.effective


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([*LIKED, "--debias", "ips"], "--debias requires --history"),
        ([*HISTORY, "--debias", "ips"], "--debias requires --judgments"),
        ([*HISTORY, "--gamma", 1], "--gamma requires --debias"),
        ([*LIKED, *HISTORY, "--debias", "ips", "--interval"], "cannot be combined"),
        ([*LIKED, *HISTORY, "--debias", "ips", "-m", "ILD@3"], "a sum over relevant items"),
        (
            [*LIKED, *HISTORY, "--debias", "ips", "--gamma", 1, "--exposures", POPULAR],
            "cannot be combined",
        ),
    ],
)
def test_what_debias_refuses(cli, words, problem):
    done = cli("recommend", POPULAR, *words)
    assert done.returncode == 2
    assert problem in done.stderr
