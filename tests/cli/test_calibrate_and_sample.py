"""`gainful sample`, `gainful calibrate` and `gainful compare --human --model`, in this process."""

import json
import random
from pathlib import Path

import pytest

import gainful as gf


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments of a model, runs, and what people would say of every query."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(4)  # noqa: S311
    truth = {f"q{i}": {f"d{j}": rng.choice([0, 0, 1, 2]) for j in range(6)} for i in range(60)}
    model = {
        query: {doc: min(3, grade + (rng.random() < 0.4)) for doc, grade in docs.items()}
        for query, docs in truth.items()
    }
    gf.write_judgments(truth, "truth.qrels")
    gf.write_judgments(model, "model.qrels")
    for name, sign in (("base", 1), ("good", 3), ("bad", -3)):
        run = {
            query: {doc: sign * grade + rng.gauss(0, 1) for doc, grade in docs.items()}
            for query, docs in truth.items()
        }
        gf.write_run(run, f"{name}.run")
    return truth


@pytest.fixture
def judged(files, cli):
    """The same, with a sample that people judged."""
    done = cli("sample", "model.qrels", "--size", 25, "--design", "design.json", "-o", "drawn.csv")
    assert done.returncode == 0, done.stderr
    drawn = [line.split(",")[0] for line in Path("drawn.csv").read_text().splitlines()[1:]]
    gf.write_judgments({query: files[query] for query in drawn}, "people.qrels")
    return drawn


def test_a_sample_is_drawn_and_its_design_kept(judged):
    design = json.loads(Path("design.json").read_text())
    assert (
        design["strata"][0]["drawn"]
        == judged
        == [*gf.judging.sample_queries("model.qrels", 25).queries]
    )


def test_a_sample_says_what_it_is(files, cli):
    done = cli("sample", "model.qrels", "--size", 5)
    assert "5 queries of 60, drawn at random, seed 0" in done.stdout
    assert (
        done.stderr
        == "The design was not saved: pass --design FILE so that `gainful calibrate` can read it.\n"
    )
    done = cli("sample", "model.qrels", "--size", 5, "-f", "csv", "--design", "d.json")
    assert done.stdout.startswith("query,probability\n")
    assert done.stderr == "5 queries of 60, drawn at random, seed 0\n"
    Path("kinds.csv").write_text("query,kind\n" + "".join(f"q{i},{i % 2}\n" for i in range(60)))
    done = cli(
        "sample",
        "base.run",
        "--size",
        8,
        "--strata",
        "kinds.csv",
        "--allocation",
        "equal",
        "-f",
        "json",
    )
    assert [row["stratum"] for row in json.loads(done.stdout)].count("1") == 4
    done = cli(
        "sample", "base.run", "good.run", "--documents", "--depth", 3, "--size", 70, "-f", "csv"
    )
    assert done.stdout.startswith("query,doc,stratum,probability\n")
    done = cli(
        "sample",
        "base.run",
        "--documents",
        "--model",
        "model.qrels",
        "--by",
        "grade",
        "--by",
        "rank",
        "--size",
        40,
    )
    assert "strata by grade, rank" in done.stdout.replace("\n  ", " ")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("model.qrels", "base.run", "--size", 5), "Queries are drawn from one SOURCE"),
        (("model.qrels", "--size", 5, "--depth", 3), "--depth requires --documents"),
        (("model.qrels", "--size", 5, "--by", "a", "--by", "b"), "--by accepts one column"),
        (
            ("base.run", "--size", 5, "--documents", "--strata", "model.qrels"),
            "--strata cannot be combined with --documents: use --by",
        ),
        (("-", "--size", 5), "cannot be read from standard input"),
        (("model.qrels", "--size", 500), "at most 60 queries"),
        (("model.qrels",), "Missing option '--size'"),
        (("model.qrels", "--size", 5, "--design", "model.qrels"), "model.qrels"),
    ],
)
def test_samples_that_are_refused(files, cli, call, message):
    done = cli("sample", *call)
    assert done.returncode == 2
    assert message in done.stderr


def test_calibrate_is_the_function(judged, cli):
    done = cli(
        "calibrate",
        "--human",
        "people.qrels",
        "--model",
        "model.qrels",
        "base.run",
        "good.run",
        "--design",
        "design.json",
        "-f",
        "json",
    )
    assert done.returncode == 0, done.stderr
    runs = {"base": "base.run", "good": "good.run"}
    found = gf.judging.calibrate("people.qrels", "model.qrels", runs, design="design.json")
    assert json.loads(done.stdout) == found.to_dict()
    call = [
        "calibrate",
        "--human",
        "people.qrels",
        "--model",
        "model.qrels",
        "base.run",
        "good.run",
        "--drawn-at-random",
    ]
    done = cli(
        *call,
        "--judge",
        "gpt",
        "--generator",
        "good=GPT",
        "--width",
        0.05,
        "-m",
        "P@3",
        "-m",
        "nDCG@5",
    )
    assert "gpt judges its own output (good)" in done.stdout
    assert "drawn at random, as stated by the caller" in " ".join(done.stdout.split())
    assert "how many more queries people must judge for a width of 0.05" in " ".join(
        done.stdout.split()
    )
    done = cli(*call, "-f", "csv")
    assert done.stdout.startswith(
        "measure,run,baseline,people,model,bias,PPI,estimate,low,high,λ,worth,p,verdict"
    )
    assert "people judged 25 queries, the model 35 more" in done.stderr


def test_sampled_documents_give_dcg(files, cli):
    cli(
        "sample",
        "base.run",
        "good.run",
        "--documents",
        "--depth",
        3,
        "--size",
        90,
        "--design",
        "docs.json",
        "-o",
        "d.csv",
    )
    people = {}
    for line in Path("d.csv").read_text().splitlines()[1:]:
        query, doc, *_ = line.split(",")
        people.setdefault(query, {})[doc] = files[query][doc]
    gf.write_judgments(people, "some.qrels")
    call = (
        "calibrate",
        "--human",
        "some.qrels",
        "--model",
        "model.qrels",
        "base.run",
        "good.run",
        "--design",
        "docs.json",
    )
    done = cli(*call, "-m", "DCG@3")
    assert done.returncode == 0, done.stderr
    assert "people judged 90 documents" in done.stdout
    done = cli(*call)
    assert done.returncode == 2
    assert "DCG or CG, which are sums over documents" in done.stderr


def test_the_former_form_of_calibrate_still_works(judged, cli):
    runs = ["base.run", "good.run", "--design", "design.json", "-f", "json"]
    now = cli("calibrate", "--human", "people.qrels", "--model", "model.qrels", *runs)
    former = cli("calibrate", "people.qrels", "model.qrels", *runs)
    assert (former.returncode, former.stdout) == (0, now.stdout)
    assert "HUMAN MODEL is now --human people.qrels --model model.qrels" in former.stderr
    assert "is now" not in now.stderr
    for words in (["base.run"], ["--human", "people.qrels", "base.run"]):
        done = cli("calibrate", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--model" in done.stderr


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "drawn at random"),
        (("--design", "model.qrels"), "expected the design of a sample, found no JSON"),
        (("--design", "design.json", "--drawn-at-random"), "None with a design"),
        (
            ("--drawn-at-random", "--generator", "x", "--generator", "y"),
            "--generator expects NAME once for all RUNs",
        ),
        (("--drawn-at-random", "--baseline", "other"), "baseline: expected one of the runs"),
    ],
)
def test_calibrations_that_are_refused(judged, cli, more, message):
    done = cli(
        "calibrate",
        "--human",
        "people.qrels",
        "--model",
        "model.qrels",
        "base.run",
        "good.run",
        *more,
    )
    assert done.returncode == 2
    assert message in done.stderr.replace("\n", " ")
    assert cli("calibrate", "-", "model.qrels", "base.run").returncode == 2


# --- the gate of compare

BOTH = ("--human", "people.qrels", "--model", "model.qrels", "--design", "design.json")


def test_a_gate_is_decided_by_people_and_model(judged, cli):
    done = cli("compare", "base.run", "good.run", *BOTH, "--fail-if", "Δ nDCG@10 < -0.01")
    assert done.returncode == 0, done.stderr
    assert "good is better than base" in done.stdout.replace("\n  ", " ")
    assert "Gate passed" in done.stderr
    done = cli("compare", "base.run", "bad.run", *BOTH, "--fail-if", "Δ nDCG@10 < -0.01")
    assert done.returncode == 1
    assert "Gate failed" in done.stderr
    found = gf.judging.calibrate(
        "people.qrels", "model.qrels", ["base.run", "bad.run"], design="design.json"
    )
    each = found.difference("bad").estimate
    assert f"{each.low:+.4f}" in done.stderr
    assert f"{each.high:+.4f}" in done.stderr
    done = cli(
        "compare",
        "base.run",
        "good.run",
        "bad.run",
        *BOTH,
        "--fail-unless",
        "nDCG@10 > 0.95",
        "-m",
        "nDCG@10",
        "-f",
        "json",
    )
    assert done.returncode == 1
    assert {row["run"] for row in json.loads(done.stdout)["differences"]} == {"good", "bad"}


def test_a_gate_writes_its_files(judged, cli):
    done = cli(
        "compare",
        "base.run",
        "bad.run",
        *BOTH,
        "--fail-if",
        "Δ nDCG@10 < 0",
        "--junit",
        "gate.xml",
        "--summary",
        "gate.md",
    )
    assert done.returncode == 1
    assert 'failures="1"' in Path("gate.xml").read_text()
    summary = Path("gate.md").read_text()
    assert summary.startswith("## gainful: failed")
    assert "differences from base" in summary
    done = cli("compare", "base.run", "bad.run", *BOTH)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("--human", "people.qrels"), "--human requires --model"),
        (("--design", "design.json", "truth.qrels"), "--design requires --human"),
        (
            (*BOTH, "--fail-if", "missing > 0"),
            "expected a change, such as 'Δ nDCG@10 < -0.01', or a floor",
        ),
        ((*BOTH, "--fail-if", "Δ AP < 0"), "'AP', which is not measured"),
        ((*BOTH, "--test", "sign"), "--human cannot be combined with --test"),
        ((*BOTH, "--html", "x.html"), "--human cannot be combined with --html"),
        ((*BOTH, "--judgments", "truth.qrels"), "--human cannot be combined with --judgments"),
        ((*BOTH, "--per-query"), "--human cannot be combined with --per-query"),
        ((*BOTH, "--junit", "gate.xml"), "--junit requires --fail-if or --fail-unless"),
        (("--human", "people.qrels", "--model", "model.qrels"), "drawn at random"),
    ],
)
def test_comparisons_that_are_refused(judged, cli, call, message):
    done = cli("compare", "base.run", "good.run", *call)
    assert done.returncode == 2
    assert message in done.stderr.replace("\n", " ")


def test_a_project_that_names_judgments_and_a_gate_is_no_hindrance(judged, cli):
    Path("gainful.toml").write_text(
        'judgments = "truth.qrels"\n[compare]\ntest = "sign"\n[gate]\nfail_if = ["Δ nDCG@10 < -0.01"]\n'
    )
    assert cli("compare", "base.run", "good.run", *BOTH).returncode == 0
    done = cli("compare", "base.run", "bad.run", *BOTH)
    assert done.returncode == 1
    assert "Gate failed" in done.stderr


def test_messages_beside_people_and_a_model_offer_what_can_be_done(judged, cli):
    gate = ("compare", "base.run", "good.run", "--human", "people.qrels", "--model", "model.qrels")
    for condition, wanted in (
        ("p > 0.05", "Gates use intervals"),
        ("nonsense", "'nDCG@10 < 0.6', found"),
    ):
        done = cli(*gate, "--design", "design.json", "--fail-if", condition)
        assert done.returncode == 2
        assert wanted in done.stderr
        assert not any(word in done.stderr for word in ("missing", "changed", "-m '"))
    for human, design in (("-", "design.json"), ("people.qrels", "-")):
        done = cli(
            "calibrate", "--human", human, "--model", "model.qrels", "base.run", "--design", design
        )
        assert done.returncode == 2
        assert "cannot be read from standard input: pass files" in done.stderr
    done = cli(
        "calibrate",
        "--human",
        "model.qrels",
        "--model",
        "people.qrels",
        "base.run",
        "--design",
        "design.json",
    )
    assert done.returncode == 2
    assert "If they are swapped" in done.stderr
