"""`gainful.toml`, `[tool.gainful]` and `gainful config`, as a project uses them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import gainful as gf
from every_case import assert_every_case
from gainful.cli.commands import commands
from gainful.cli.project import all_settings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "project_file.md"
QUERIES = [f"q{i}" for i in range(12)]
JUDGMENTS = "user,sku,stars\n" + "".join(f"{q},a,3\n{q},b,1\n" for q in QUERIES)
QRELS = "".join(f"{q} 0 a 3\n{q} 0 b 1\n" for q in QUERIES)
# The base lacks q11; the other has the best document first where the base has it second.
BASE = "".join(f"{q} Q0 b 1 2 t\n{q} Q0 a 2 1 t\n" for q in QUERIES[:11])
NEW = "".join(
    f"{q} Q0 a 1 {3 + (i % 4 == 0)} t\n{q} Q0 x 2 3.5 t\n{q} Q0 b 3 1 t\n"
    for i, q in enumerate(QUERIES)
)
SETTINGS = """
judgments = "judged/dev.csv"
measures = ["nDCG@2", "RR(rel=3)"]

[columns]
judgments.query = "user"
judgments.doc = "sku"
grade = "stars"

[policy]
missing = "skip"
"""
COLUMNS = ["judgments.query=user", "judgments.doc=sku", "grade=stars"]
# The same, as it is typed without a file.
TYPED = [word for name in COLUMNS for word in ("--columns", name)]
CHOSEN = ["--missing", "skip"]
BOTH = ["-m", "nDCG@2", "-m", "RR(rel=3)"]
USED = "judgments, measures, columns, missing=skip"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project in a folder, which is the current one."""
    for folder in ("judged", "runs", "deep/er"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "judged" / "dev.csv").write_text(JUDGMENTS)
    (tmp_path / "judged" / "other.qrels").write_text(QRELS.replace("a 3", "a 0"))
    (tmp_path / "runs" / "base.run").write_text(BASE)
    (tmp_path / "runs" / "new.run").write_text(NEW)
    (tmp_path / "gainful.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def numbers(done):
    """The means of the runs of an evaluation in JSON."""
    assert done.returncode == 0, done.stderr
    return {run["run"]: run["means"] for run in json.loads(done.stdout)["runs"]}


FILE = "judged/dev.csv"
ONE, TWO = "runs/base.run", "runs/new.run"
# A call in the project, and what it stands for.
CALLS = {
    "evaluate": (["evaluate", ONE, TWO], ["evaluate", FILE, ONE, TWO, *BOTH, *TYPED, *CHOSEN]),
    "evaluate a folder": (["evaluate", "runs"], ["evaluate", FILE, "runs", *BOTH, *TYPED, *CHOSEN]),
    "compare": (["compare", ONE, TWO], ["compare", FILE, ONE, TWO, *BOTH, *TYPED, *CHOSEN]),
    "leaderboard": (
        ["leaderboard", ONE, TWO],
        ["leaderboard", FILE, ONE, TWO, *BOTH, *TYPED, *CHOSEN],
    ),
    "explain": (
        ["explain", TWO, "-q", "q1"],
        ["explain", FILE, TWO, "-q", "q1", "-m", "nDCG@2", *TYPED, *CHOSEN],
    ),
    "attribute": (
        ["explain", TWO, "-q", "q1", "--against", ONE],
        ["explain", FILE, TWO, "-q", "q1", "--against", ONE, "-m", "nDCG@2", *TYPED, *CHOSEN],
    ),
    "why": (
        ["why", ONE, "--dialects", "scikit-learn"],
        ["why", FILE, ONE, "--dialects", "scikit-learn", "-m", "nDCG@2", *TYPED, *CHOSEN],
    ),
    "why of two tools": (
        ["why", ONE, "--dialects", "scikit-learn,gdeval"],
        ["why", FILE, ONE, "--dialects", "scikit-learn,gdeval", "-m", "nDCG@2", *TYPED],
    ),
    "which": (
        ["why", ONE, "--got", "0.5"],
        ["why", FILE, ONE, "--got", "0.5", "-m", "nDCG@2", *TYPED, *CHOSEN],
    ),
    "check judgments": (["check"], ["check", FILE, *TYPED]),
    "check": (["check", TWO], ["check", FILE, TWO, *TYPED]),
    "pool": (
        ["pool", ONE, TWO],
        ["pool", ONE, TWO, "--judgments", FILE, "-m", "nDCG@2", *TYPED, *CHOSEN],
    ),
    "power": (
        ["power", ONE, TWO, "--difference", "0.1"],
        ["power", FILE, ONE, TWO, "--difference", "0.1", "-m", "nDCG@2", *TYPED, *CHOSEN],
    ),
    "power of a number": (["power", "--sd", "0.2", "--queries", "50"],) * 2,
    "grades": (["explain", "3,2,0"],) * 2,
    "measures": (["measures"],) * 2,
    "dialects": (["dialects"],) * 2,
}
NOTHING_USED = ("power of a number", "grades", "measures", "dialects")


@pytest.fixture(scope="module")
def known():
    return {}


@pytest.fixture
def long_call(project, cli, known):
    """Make a long call, once for all tests that ask for it: the project is the same in each."""

    def call(name):
        if name not in known:
            known[name] = cli("--no-config", *CALLS[name][1])
        return known[name]

    return call


@pytest.mark.parametrize("name", CALLS)
def test_a_short_call_is_the_long_one(project, cli, long_call, name):
    plain = long_call(name)
    done = cli(*CALLS[name][0])
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert done.returncode in (0, 1), done.stderr
    said = done.stderr.replace(plain.stderr, "").splitlines()
    if name in NOTHING_USED:
        assert said == []
    else:
        assert said[-1].startswith("gainful.toml: judgments, ")
    assert "gainful.toml" not in plain.stderr


def test_every_command_is_among_these(project):
    known = {call[0] for calls in CALLS.values() for call in calls}
    others = {
        "report",
        "convert",
        "completion",
        "config",
        "trec_eval",
        "fuse",
        "history",
        "watch",
        "agreement",
        "clicks",
        "judge",
        "collect",
        "sample",
        "calibrate",
        "merge",
        "recommend",
        "mcp",
        "run",
        "help",
        "conformance",
        "demo",
        "similar",
        "sql",
    }  # below, or with the command
    assert {*known, *others} == set(commands.list_commands(click.Context(commands)))


def test_one_line_says_what_was_used(project, cli):
    assert cli("evaluate", ONE).stderr == f"gainful.toml: {USED}\n"
    assert cli("evaluate", ONE, "-f", "csv").stderr.endswith(f"\ngainful.toml: {USED}\n")
    done = cli("evaluate", ONE, "-m", "AP", "--missing", "zero")
    assert done.stderr == "gainful.toml: judgments, columns\n"
    done = cli("explain", TWO, "-q", "q1")
    assert done.stderr == "gainful.toml: judgments, measure=nDCG@2, columns, missing=skip\n"
    assert cli("--no-config", "explain", "3,2").stderr == ""


def test_a_report_takes_judgments_and_texts(project, cli):
    (project / "texts.csv").write_text("query,text\nq0,what to eat\n")
    with (project / "gainful.toml").open("a") as file:
        file.write('[report]\nqueries = "texts.csv"\n[compare]\nby = "judged"\n')
    done = cli("report", ONE, TWO, "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"gainful.toml: {USED}, queries, by\n")
    assert "what to eat" not in done.stderr
    done = cli(
        "report", TWO, "-o", "one.html"
    )  # one run is not compared, nor its comparison sliced
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"gainful.toml: {USED}, queries\n")


def test_a_conversion_takes_the_columns_of_its_kind(project, cli):
    done = cli("convert", FILE, "out.qrels", "--as", "judgments")
    assert done.returncode == 0, done.stderr
    assert Path("out.qrels").read_text() == QRELS
    Path("gainful.toml").write_text('assessors = "max"\n[columns]\ngrade = "stars"\nscore = "s"\n')
    Path("run.csv").write_text("query,doc,s\nq,a,1\n")
    done = cli("convert", "run.csv", "out.run", "--as", "run")
    assert (done.returncode, done.stderr) == (0, "gainful.toml: columns\n")
    assert Path("out.run").read_text().startswith("q Q0 a 1 1")


def test_a_folder_below_has_the_same_settings(project, cli, monkeypatch):
    here = numbers(cli("evaluate", TWO, "-f", "json"))
    monkeypatch.chdir(project / "deep" / "er")
    done = cli("evaluate", "../../runs/new.run", "-f", "json")
    assert numbers(done) == here
    assert "../../gainful.toml: judgments" in done.stderr
    assert (
        cli("--config", "../../gainful.toml", "evaluate", "../../runs/new.run", "-f", "json")
        == done
    )


def test_the_nearest_folder_counts_alone(project, cli, monkeypatch):
    (project / "deep" / "gainful.toml").write_text('measures = "AP"\n')
    monkeypatch.chdir(project / "deep" / "er")
    done = cli("evaluate", "../../judged/other.qrels", "../../runs/new.run", "-f", "json")
    assert list(numbers(done)["new"]) == ["AP"]
    assert done.stderr == "../gainful.toml: measures\n"


def in_pyproject(settings):
    """The settings as tables of a `pyproject.toml`."""
    return "[tool.gainful]" + re.sub(r"^\[", "[tool.gainful.", settings, flags=re.MULTILINE)


def test_a_pyproject_does_as_well(project, cli):
    usual = cli("evaluate", ONE)
    Path("gainful.toml").unlink()
    Path("pyproject.toml").write_text('[project]\nname = "shop"\n' + in_pyproject(SETTINGS))
    done = cli("evaluate", ONE)
    assert done.stdout == usual.stdout
    assert done.stderr == f"pyproject.toml [tool.gainful]: {USED}\n"
    assert cli("--config", "pyproject.toml", "evaluate", ONE) == done


def test_gainful_toml_counts_before_pyproject_and_that_is_said(project, cli):
    Path("pyproject.toml").write_text('[tool.gainful]\nmeasures = "P@1"\n')
    assert "RR(rel=3)" in cli("evaluate", ONE).stdout
    done = cli("config")
    assert done.stderr.startswith(
        "pyproject.toml also contains a [tool.gainful] table; it is ignored"
    )
    assert "P@1" not in done.stdout


@pytest.mark.parametrize(
    "text", ["[tool.ruff]\n", "[broken\n", "[project]\ndependencies = ['gainful']\n", "tool = 3\n"]
)
def test_a_pyproject_of_others_is_passed_over(project, cli, text):
    (project / "deep" / "pyproject.toml").write_text(text)
    assert cli("--config", "gainful.toml", "evaluate", ONE).returncode == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project / "deep")
        assert cli("evaluate", "../runs/base.run").stderr == f"../gainful.toml: {USED}\n"


def test_what_is_typed_counts_before_the_file(project, cli):
    found = json.loads(cli("evaluate", ONE, "-m", "P@1", "--missing", "zero", "-f", "json").stdout)
    assert list(found["runs"][0]["means"]) == ["P@1"]
    assert found["policy"]["missing"] == "zero"
    done = cli("--no-config", "evaluate", "judged/other.qrels", ONE, *BOTH, *CHOSEN, "-f", "json")
    Path("gainful.toml").write_text(SETTINGS.partition("[columns]")[0] + "[policy]\nmissing='skip'")
    other = cli("evaluate", ONE, "--judgments", "judged/other.qrels", "-f", "json")
    assert other.stdout == done.stdout
    assert other.stderr == "gainful.toml: measures, missing=skip\n"


def test_columns_are_replaced_one_by_one(project, cli):
    Path(FILE).write_text(JUDGMENTS.replace("stars", "points").replace("sku", "asin"))
    done = cli("evaluate", ONE, "--columns", "grade=points", "--columns", "judgments.doc=asin")
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"gainful.toml: {USED}\n"
    # A run is ordered by one column.
    Path("ranked.csv").write_text("query,doc,place\nq0,a,1\n")
    Path("gainful.toml").write_text("columns.run.score = 'points'\n")
    done = cli("evaluate", "judged/other.qrels", "ranked.csv", "--columns", "rank=place")
    assert (done.returncode, done.stderr) == (0, "")
    # One for both sides replaces that of one side.
    Path("gainful.toml").write_text(SETTINGS)
    Path("run.csv").write_text("q,asin,score\nq0,a,1\n")
    Path(FILE).write_text(JUDGMENTS.replace("user,sku", "q,asin"))
    done = cli("evaluate", "run.csv", "--columns", "query=q", "--columns", "doc=asin")
    assert done.returncode == 0, done.stderr


def test_a_dialect_that_is_typed_replaces_the_policy_of_the_file(project, cli):
    done = cli("evaluate", TWO, "--dialect", "trec_eval", *BOTH[:2])
    assert done.returncode == 0, done.stderr
    assert done.stderr == "gainful.toml: judgments, columns\n"
    plain = cli("--no-config", "evaluate", FILE, TWO, "--dialect", "trec_eval", *BOTH[:2], *TYPED)
    assert plain.stdout == done.stdout
    Path("gainful.toml").write_text('dialect = "trec_eval"\n')
    done = cli("evaluate", "judged/other.qrels", ONE, "--missing", "skip")
    assert done.returncode == 2
    assert (
        "gainful.toml sets a dialect, which has its own policy: leave out --missing." in done.stderr
    )


def test_chunks_that_are_typed_replace_the_map_of_the_file(project, cli):
    Path("map.tsv").write_text("a#1\ta\n")
    Path("chunked.run").write_text("q0 Q0 a#1 1 2 t\n")
    Path("gainful.toml").write_text('judgments = "judged/other.qrels"\nchunk_map = "map.tsv"\n')
    done = cli("evaluate", "chunked.run")
    assert done.stderr == "gainful.toml: judgments, chunk_map\n"
    done = cli("evaluate", "chunked.run", "--chunks", "#")
    assert (done.returncode, done.stderr) == (0, "gainful.toml: judgments\n")


# --judgments without a file: the same as the first file.
@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if FILE in call[1]])
def test_judgments_by_option_are_those_of_the_first_file(project, cli, long_call, name):
    named = [word for word in CALLS[name][1] if word not in ("--judgments", FILE)]
    assert cli("--no-config", *named, "--judgments", FILE) == long_call(name)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["evaluate", ONE], "Expected JUDGMENTS RUN [RUN]..., found runs/base.run. The first file"),
        (["evaluate"], "Missing argument"),
        (["check"], "Expected JUDGMENTS [RUN]..., found none. The first file is the judgments"),
        (["report", ONE, "-o", "x.html"], "Expected JUDGMENTS RUN [RUN]..., found runs/base.run."),
        (["compare", ONE, "--judgments", FILE], "Expected BASE RUN [RUN]..., found runs/base.run"),
        (["why", ONE, "--got", "1"], "Expected JUDGMENTS RUN, found runs/base.run"),
        (["why", ONE, TWO, "--got", "1", "--judgments", FILE], "Expected RUN, found"),
        (["power", ONE, "--judgments", FILE], "Expected BASE RUN, found runs/base.run"),
        (["power", "--judgments", FILE], "Expected BASE RUN, found"),
        (["explain", "3,2", "--judgments", FILE], "--judgments requires JUDGMENTS and RUN"),
        (
            ["compare", "--scores", ONE, TWO, "--judgments", FILE],
            "cannot be combined with --scores",
        ),
        (["evaluate", "-", "--judgments", "-"], "Standard input can be read only once"),
        (["evaluate", ONE, "--no-config"], "--no-config belongs before the command: gainful"),
        (["explain", ONE, TWO, "--config", "x"], "--config belongs before the command"),
        (["--config", "x.toml", "--no-config", "check"], "--config or --no-config, not both"),
    ],
)
def test_wrong_calls_without_a_file(project, cli, words, told):
    words = words if words[0].startswith("--") else ["--no-config", *words]
    done = cli(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize("command", ["evaluate", "compare", "check", "why", "report"])
def test_judgments_as_the_first_file_are_told_of(project, cli, command):
    more = {"why": ["--got", "0.5"], "report": ["-o", "page.html"]}.get(command, [])
    # The same file may come first, as without a project's file.
    runs = [ONE, TWO] if command == "compare" else [TWO]
    again, plain = (cli(command, *files, *more) for files in ([FILE, *runs], runs))
    assert again == plain
    assert "is no run" not in again.stderr
    # Elsewhere, it is a slip.
    done = cli(command, TWO, FILE, *more)
    assert done.returncode == 2
    assert (
        "judged/dev.csv is not a run: gainful.toml names it as judgments. Leave it out"
        in done.stderr
    )


# Judgments in each form that a run may have, too, or under a name that says what they are.
GRADED = {
    "other.qrels": "".join(f"{q} 0 a 0\n" for q in QUERIES),
    "QRELS-v2.txt": "".join(f"{q} 0 a 0\n" for q in QUERIES),
    "my judgments.csv": "query,doc,score\n" + "".join(f"{q},a,0.5\n" for q in QUERIES),
    "dicts.json": json.dumps({q: {"a": 3, "b": 1} for q in QUERIES}, indent=1),
    "fractions.json": json.dumps({q: {"a": 3.0, "b": 0.0} for q in QUERIES}),
    "records.jsonl": "".join(f'{{"query": "{q}", "doc": "a", "score": 2}}\n' for q in QUERIES),
    "beir.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\ta\t1\n" for q in QUERIES),
    "scores.csv": "query,doc,score\r\n" + "".join(f"{q},a,1\r\n" for q in QUERIES),
}
# Runs, which must stay runs.
RUNS = {
    "fractions.json": json.dumps({q: {"a": 3.5, "b": 1} for q in QUERIES}),
    "high.json": json.dumps({q: {"a": 17, "b": 1} for q in QUERIES}),
    "few.json": json.dumps({q: {"a": 2, "b": 1} for q in QUERIES[:3]}),
    "trec.txt": "".join(f"{q} Q0 a 1 2 t\n{q} Q0 b 2 1 t\n" for q in QUERIES),
    "ranks.tsv": "query\tdoc\tscore\n" + "".join(f"{q}\ta\t{i + 1}\n" for i, q in enumerate(QUERIES)),
}  # fmt: skip


@pytest.mark.parametrize(
    "command", ["evaluate", "compare", "check", "why", "report", "leaderboard", "explain", "power"]
)
def test_other_judgments_never_become_a_run(project, cli, command):
    more = {
        "why": ["--got", "0.5"], "report": ["-o", "page.html"], "explain": ["-q", "q1"], "power": ["--difference", "0.1"],
    }.get(command, [])  # fmt: skip
    for name, text in GRADED.items():
        Path(name).write_text(text)
        done = cli(command, name, ONE, TWO, *more)
        assert (done.returncode, done.stdout) == (2, ""), name
        assert f"{name} looks like judgments, but gainful.toml names judged/dev.csv" in done.stderr
        assert f"instead, pass --judgments {name}. If it is a run, pass --judgments" in done.stderr
    assert not Path("page.html").exists()


def test_runs_stay_runs_beside_the_judgments_of_a_project(project, cli):
    for name, text in RUNS.items():
        Path(name).write_text(text)
        done = cli("compare", name, TWO)
        assert done.returncode == 0, (name, done.stderr)
    Path("dicts.json").write_text(GRADED["dicts.json"])
    assert cli("compare", "dicts.json", TWO, "--judgments", FILE).returncode == 0


def test_scores_take_how_they_are_compared_alone(project, cli):
    for name, shift in (("one", 0), ("two", 0.1)):
        rows = "".join(f"{q},{i / 20 + shift * (i % 3)}\n" for i, q in enumerate(QUERIES))
        Path(f"{name}.csv").write_text("query,clicks\n" + rows)
    Path("gainful.toml").write_text(
        SETTINGS + '[compare]\ntest = "sign"\n[gate]\nfail_if = "Δ clicks < -1"\n'
    )
    done = cli("compare", "--scores", "one.csv", "two.csv", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "p by sign" in done.stdout
    assert re.search(r"fail if Δ clicks < -1 +passed", done.stderr)
    assert done.stderr.endswith("gainful.toml: test=sign, fail_if\n")


GATE = SETTINGS + '[gate]\nfail_if = ["Δ nDCG@2 < -0.001", "nDCG@2 < 0.3", "missing > 3"]\n'


def test_the_gate_holds_in_both_and_changes_in_compare(project, cli):
    Path("gainful.toml").write_text(GATE)
    done = cli("compare", ONE, TWO)
    assert done.returncode == 1
    assert re.search(r"fail if Δ nDCG@2 < -0.001 +failed", done.stderr)
    assert done.stderr.endswith(f"gainful.toml: {USED}, fail_if\n")
    done = cli("evaluate", TWO)
    assert done.returncode == 0
    assert "Δ" not in done.stderr
    assert re.search(r"fail if nDCG@2 < 0.3 +passed", done.stderr)
    Path("gainful.toml").write_text(GATE.replace("0.3", "0.99"))
    assert cli("evaluate", TWO).returncode == 1


def test_a_gate_of_changes_alone_is_none_for_one_run(project, cli):
    Path("gainful.toml").write_text(
        SETTINGS + '[gate]\nfail-unless = ["Δ nDCG@2 > 0", "changed"]\n'
    )
    assert cli("evaluate", TWO).stderr == f"gainful.toml: {USED}\n"


def test_conditions_that_are_typed_replace_those_of_the_file(project, cli):
    Path("gainful.toml").write_text(GATE)
    done = cli("evaluate", TWO, "--fail-if", "RR(rel=3) < 0.2")
    assert "nDCG@2 <" not in done.stderr
    assert done.stderr.endswith(f"gainful.toml: {USED}\n")


def test_a_condition_on_what_is_not_measured_is_left_out_and_told_of(project, cli):
    Path("gainful.toml").write_text(GATE)
    done = cli("evaluate", TWO, "-m", "P@1")
    assert done.returncode == 0
    assert (
        "gainful.toml: nDCG@2 < 0.3 is not checked: its measure is not among the selected"
        in done.stderr
    )
    assert "fail if missing > 3" in done.stderr
    done = cli("compare", ONE, TWO, "-m", "P@1")
    assert "gainful.toml: Δ nDCG@2 < -0.001 is not checked" in done.stderr
    done = cli("evaluate", TWO, "--bounds", "--grades", "0..3", "-m", "nDCG@2")
    assert done.returncode == 0, done.stderr
    assert "gainful.toml: the gate is not checked with --bounds." in done.stderr


def test_the_level_of_the_gate_is_that_of_comparisons(project, cli):
    more = '[compare]\nlevel = 0.5\ninterval = "t"\n[gate]\nfail_if = "nDCG@2 < 0.2"\n'
    Path("gainful.toml").write_text(SETTINGS + more)
    done = cli("evaluate", TWO)
    assert "50% interval" in done.stderr
    assert done.stderr.endswith(f"{USED}, level=0.5, interval=t, fail_if\n")
    assert (
        "95%" in cli("evaluate", TWO, "--interval").stdout
    )  # what is shown is asked for by options


MISTAKES = [
    ("measures = nDCG@10", "gainful.toml:1: expected TOML, found 'measures = nDCG@10'. "),
    ("judgments = 'a'\njudgments = 'b'", "gainful.toml:2: expected TOML"),
    ("[policy", "gainful.toml:1: expected TOML, found '[policy'"),
    ("x = [" + "[" * 20000, "gainful.toml: expected TOML"),
    ("mesures = 'AP'", "gainful.toml, mesures: expected a setting, found 'mesures'. Did you mean 'measures'?"),
    ("missing = 'skip'", "gainful.toml, missing: expected a setting, found 'missing'. Write it in the table [policy]."),
    ("fail-if = 'missing > 0'", "gainful.toml, fail_if: expected a setting, found 'fail_if'. Write it in the table [gate]."),
    ("threads = 2", "gainful.toml, threads: expected a setting"),
    ("[policy]\nmising = 'skip'", "gainful.toml, policy.mising: expected a setting, found 'mising'. Did you mean 'missing'?"),
    ("[policy]\nmissing = 'skp'", "gainful.toml, policy.missing: expected zero or skip or error, found 'skp'. Did you mean 'skip'?"),
    ("[policy]\nmissing = 1979-05-27", "gainful.toml, policy.missing: expected zero or skip"),
    ("policy = 'default'", "gainful.toml, policy: expected a table [policy], found 'default'"),
    ("judgments = 3", "gainful.toml, judgments: expected the path of a file, relative to the folder of this one, found 3"),
    ("judgments = ''", "gainful.toml, judgments: expected the path"),
    ("judgments = ['a']", "gainful.toml, judgments: expected the path"),
    ("measures = [1]", "gainful.toml, measures: expected a string or a list of strings, found [1]"),
    ("measures = []", "gainful.toml, measures: expected at least one measure, found none"),
    ("measures = 'nDGC@5'", "gainful.toml, measures: expected a measure from the catalogue, found 'nDGC'. Did you mean"),
    ("dialect = 'trec_evil'", "gainful.toml, dialect: expected the name of a tool, found 'trec_evil'"),
    ("dialect = true", "gainful.toml, dialect: expected a string, found True"),
    ("dialect = 'trec_eval'\npolicy.missing = 'skip'", "gainful.toml, policy.missing: expected no policy next to a dialect"),
    ("chunks = '#'\nchunk-map = 'm'", "gainful.toml, chunk_map: expected chunks or chunk_map, found both"),
    ("chunk-map = 'a'\nchunk_map = 'b'", "gainful.toml, chunk_map: expected each setting once"),
    ("columns = 'query'", "gainful.toml, columns: expected a table"),
    ("columns.query = true", "gainful.toml, columns.query: expected the name of a column"),
    ("columns.run.query = []", "gainful.toml, columns.run.query: expected the name of a column"),
    ("[compare]\nlevel = 95", "gainful.toml, compare.level: expected a number above 0 and below 1, found 95"),
    ("[compare]\nlevel = nan", "gainful.toml, compare.level: expected a number above 0 and below 1, found nan"),
    ("[compare]\nlevel = true", "gainful.toml, compare.level: expected a number above 0"),
    ("[compare]\nseed = 1.5", "gainful.toml, compare.seed: expected a whole number from 0, found 1.5"),
    ("[compare]\ntest = 'anova'", "gainful.toml, compare.test: expected t or randomisation"),
    ("[gate]\nfail_if = 'nDCG@3 < 0.5'", "gainful.toml, gate.fail_if: expected a compared measure"),
    ("[gate]\nfail_unless = 'nDCG@10 > high'", "gainful.toml, gate.fail_unless: expected a condition"),
    ("[gate]\nfail_if = 3", "gainful.toml, gate.fail_if: expected a string or a list of strings, found 3"),
]  # fmt: skip


def test_what_is_wrong_in_the_file_is_said_with_its_place(project, cli):
    def check(case):
        text, told = case
        Path("gainful.toml").write_text(text)
        for words in (["evaluate", "judged/other.qrels", TWO], ["config"]):
            done = cli(*words)
            assert (done.returncode, done.stdout) == (2, ""), words
            assert f"gainful: error: {told}" in done.stderr, done.stderr

    assert_every_case(check, MISTAKES)


def test_a_setting_that_does_not_exist_lists_all_tables(project, cli):
    Path("gainful.toml").write_text("nothing = 'AP'")
    told = cli("config").stderr
    assert "columns, policy, compare" in told
    assert ", ," not in told


def test_what_shows_in_the_data_names_the_setting_too(project, cli):
    def told(text, *words):
        Path("gainful.toml").write_text(text)
        done = cli(*words)
        assert done.returncode == 2, done.stdout
        return done.stderr

    said = told("judgments = 'none.txt'", "evaluate", ONE)
    assert "none.txt: expected a file" in said
    assert "gainful.toml names it as judgments." in said
    said = told("columns.qury = 'user'", "evaluate", FILE, ONE)
    assert "gainful.toml, columns: expected a key, found 'qury'. Did you mean 'query'?" in said
    said = told("columns.query = 'user'", "evaluate", "judged/other.qrels", ONE)
    assert "other.qrels:1: expected the column 'user' for query" in said
    assert "gainful.toml sets columns.query." in said
    said = told(SETTINGS.replace('"skip"', '"error"'), "evaluate", ONE)
    assert "(policy missing=error, set in gainful.toml)" in said
    said = told(SETTINGS + "[compare]\nby = 'land'", "compare", ONE, TWO)
    assert "gainful.toml, compare.by: expected" in said
    # What is typed is not the file's.
    said = told("measures = 'AP'", "evaluate", "judged/other.qrels", ONE, "-m", "nDGC")
    assert "gainful: error: measure: expected a measure" in said


def test_a_broken_file_does_not_keep_help_and_others_from_working(project, cli):
    Path("gainful.toml").write_text("[broken")
    for words in (
        ["--help"],
        ["evaluate", "--help"],
        ["measures"],
        ["dialects"],
        ["explain", "-h"],
    ):
        assert cli(*words).returncode == 0, words
    assert cli("--no-config", "evaluate", "judged/other.qrels", ONE).returncode == 0
    assert "gainful.toml:1: expected TOML" in cli("evaluate", "--such").stderr


def test_help_says_where_its_defaults_are_from(project, cli):
    told = " ".join(cli("evaluate", "--help").stdout.split())
    assert "[default: nDCG@2, RR(rel=3)]" in told
    assert (
        "Here, gainful.toml sets judgments, measures, columns, missing: see `gainful config`."
        in told
    )
    assert "Here," not in cli("--no-config", "evaluate", "--help").stdout


def test_python_and_trec_eval_do_not_read_it(project, cli):
    Path("judged/dev.qrels").write_text(QRELS)
    done = cli("trec_eval", "-m", "ndcg", "judged/dev.qrels", TWO)
    Path("gainful.toml").write_text("[broken")
    assert cli("trec_eval", "-m", "ndcg", "judged/dev.qrels", TWO) == done
    assert done.returncode == 0
    found = gf.evaluate("judged/other.qrels", ONE)
    assert list(found.means) == ["nDCG@10"]
    assert found.policy.missing == "zero"
    Path("x.run").write_text(NEW)
    assert list(gf.inputs.find_runs(".")) == ["x"]  # the files of settings are no runs


def test_a_file_may_have_a_mark_and_ends_of_lines_of_windows(project, cli):
    Path("gainful.toml").write_bytes(b"\xef\xbb\xbf" + SETTINGS.replace("\n", "\r\n").encode())
    assert cli("evaluate", ONE).stderr == f"gainful.toml: {USED}\n"
    Path("gainful.toml").write_bytes(b"measures = '\xff'")
    assert (
        "gainful.toml: expected TOML, found another text. 'utf-8' codec"
        in cli("evaluate", ONE).stderr
    )


def test_a_file_that_is_named_must_be_there(project, cli):
    assert "no.toml: expected a file of settings" in cli("--config", "no.toml", "config").stderr
    Path("pyproject.toml").write_text("[tool.other]\n")
    said = cli("--config", "pyproject.toml", "evaluate", ONE).stderr
    assert "pyproject.toml: expected a table [tool.gainful], found none" in said
    Path("pyproject.toml").write_text("[tool]\ngainful = 3\n")
    said = cli("--config", "pyproject.toml", "evaluate", ONE).stderr
    assert "pyproject.toml, tool.gainful: expected a table [tool.gainful], found 3" in said


def rows_of(done):
    assert done.returncode == 0, done.stderr
    return {row["setting"]: (row["value"], row["from"]) for row in json.loads(done.stdout)}


def test_config_shows_each_setting_and_where_it_comes_from(project, cli, monkeypatch):
    rows = rows_of(cli("config", "-f", "json"))
    assert list(rows) == [*all_settings()]
    assert rows["judgments"] == ("judged/dev.csv", "gainful.toml")
    assert rows["measures"] == ("nDCG@2, RR(rel=3)", "gainful.toml")
    assert rows["columns"] == (", ".join(COLUMNS), "gainful.toml")
    assert rows["policy.missing"] == ("skip", "gainful.toml")
    assert rows["policy.ties"] == ("auto", "default")
    assert rows["compare.level"] == (0.95, "default")
    assert rows["gate.fail_if"] == (None, "default")
    monkeypatch.chdir(project / "deep")
    done = cli("config")
    assert done.stdout.startswith("Settings of ../gainful.toml\n")
    assert re.search(r"^judgments +\.\./judged/dev\.csv +gainful\.toml$", done.stdout, re.M)
    assert re.search(r"^compare\.level +0\.95 +default$", done.stdout, re.M)
    assert done.stderr == ""
    rows = rows_of(cli("config", "-f", "json"))
    assert rows["judgments"] == ("../judged/dev.csv", "../gainful.toml")


def test_config_without_a_file_shows_how_to_write_one(project, cli):
    Path("gainful.toml").unlink()
    done = cli("config")
    assert {source for _, source in rows_of(cli("config", "-f", "json")).values()} == {"default"}
    assert "Found no gainful.toml" in done.stderr
    shown = done.stderr.partition(":\n\n")[2]
    Path("gainful.toml").write_text(shown)
    assert cli("config").returncode == 0
    assert cli("--no-config", "config").stderr == ""


def test_the_page_tells_of_every_setting_and_what_it_shows_is_read(project, cli):
    page = PAGE.read_text()
    for key in all_settings():
        section, _, name = key.rpartition(".")
        assert f"`{section or name}`" in page, key
        if section in ("compare", "gate", "report", "run"):
            assert f"`{name}`" in page, key
    (text,) = re.findall(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    Path("gainful.toml").write_text(text)
    rows = rows_of(cli("config", "-f", "json"))
    assert rows["columns"] == ("query=user, judgments.doc=sku", "gainful.toml")
    assert rows["policy.unjudged"] == (0.5, "gainful.toml")
    assert rows["compare.test"] == ("randomisation", "gainful.toml")


def test_without_a_file_nothing_is_loaded_to_read_one(tmp_path, files):
    qrels, run = files("q.qrels", "q 0 a 1\n"), files("r.run", "q Q0 a 1 1 t\n")
    code = (
        "import sys\nfrom gainful.cli.commands import commands\n"
        f"commands.main(['evaluate', {str(qrels)!r}, {str(run)!r}], standalone_mode=False)\n"
        "print({'tomllib', 'hashlib', 'gainful.integrations'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("set()\n")


def test_a_folder_that_is_gone_has_no_file(tmp_path, cli, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert cli("power", "--sd", "0.2", "--queries", "50").returncode == 0
