"""`gainful trec_eval` prints what trec_eval prints: recorded calls, options, and failures."""

import random
import shlex
from pathlib import Path

import pytest
import pytrec_eval

import gainful as gf

RECORDED = Path(__file__).parent / "trec_eval"
CALLS = sorted(path.stem for path in RECORDED.glob("*.cmd"))
STOPPED = {"v10.plain": 1, "v10.unknown": 1}  # exit codes


def recorded(name):
    """Return the arguments of a recorded call, with our option for the version."""
    words = shlex.split((RECORDED / f"{name}.cmd").read_text())[1:]
    return ["--version-of", name.partition(".")[0].removeprefix("v"), *words]


@pytest.mark.parametrize("name", CALLS)
def test_recorded_calls(name, monkeypatch):
    monkeypatch.chdir(RECORDED)
    printed = gf.compat.trec_eval(recorded(name))
    assert printed.output == (RECORDED / f"{name}.out").read_text()
    error = RECORDED / f"{name}.err"
    assert printed.error == (error.read_text() if error.exists() else "")
    assert printed.code == STOPPED.get(name, 0)


def test_there_are_recorded_calls_of_both_versions():
    assert {name.partition(".")[0] for name in CALLS} == {"v9", "v10"}
    assert len(CALLS) == 22


def test_the_command_line(cli, monkeypatch):
    monkeypatch.chdir(RECORDED)
    done = cli("trec_eval", "-q", "-c", "qrels", "run")
    assert done.stdout == (RECORDED / "v10.q-c.out").read_text()
    assert (done.returncode, done.stderr) == (0, "")
    stopped = cli("trec_eval", "qrels", "run")
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert stopped.stderr == (RECORDED / "v10.plain.err").read_text()
    piped = cli("trec_eval", "-c", "qrels", "-", stdin=(RECORDED / "run").read_text())
    assert piped.stdout == (RECORDED / "v10.plain-c.out").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-qc", "-mall_trec", "-l2", "qrels", "run"],
        ["qrels", "run", "--query_eval_wanted", "-c", "-m", "all_trec", "--level_for_rel=2"],
        [
            "-q",
            "-c",
            "-o",
            "-D",
            "1",
            "-R",
            "qrels",
            "-T",
            "trec_results",
            "-m",
            "all_trec",
            "-l",
            "2",
            "qrels",
            "run",
        ],
    ],
)
def test_options_in_any_order_and_spelling(arguments, monkeypatch):
    monkeypatch.chdir(RECORDED)
    expected = (RECORDED / "v10.all-q-c-l2.out").read_text()
    assert gf.compat.trec_eval(arguments).output == expected


def printed(arguments, files, judgments, run):
    """Call trec_eval on texts."""
    return gf.compat.trec_eval([*arguments, str(files("q", judgments)), str(files("r", run))])


JUDGMENTS = "1 0 a 1\n1 0 b 2\n1 0 c 0\n1 0 d -1\n2 0 a 1\n"
RUN = "1 Q0 a 1 5 t\n1 Q0 x 2 4 t\n1 Q0 b 3 3 t\n1 Q0 d 4 2 t\n2 Q0 a 1 1 tag\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        # Worked by hand: relevant at ranks 1 and 3 of four documents, and at rank 1 of one.
        (["-m", "map"], "map                   \tall\t0.9167"),
        (["-m", "P.2"], "P_2                   \tall\t0.5000"),
        # (2+1)·P·R / (R + 2·P) with P = 1/2 and R = 1: 0.75; and 1.
        (["-m", "set_F.2"], "set_F_2               \tall\t0.8750"),
        (["-m", "utility.2,-1,0,0"], "utility_2,-1,0,0      \tall\t2.0000"),
        (["-N", "10", "-m", "utility.0,0,0,1"], "utility_0,0,0,1       \tall\t7.5000"),
        (["-m", "iprec_at_recall.1"], "iprec_at_recall_1.00  \tall\t0.8333"),
        (["-m", "unj.4"], "unj_4                 \tall\t0.2500"),
        (["-m", "rbp.p=0.5"], "rbp_p=0.5             \tall\t0.4375"),
        (["-m", "num_ret"], "num_ret               \tall\t5"),
        (["-m", "runid"], "runid                 \tall\ttag"),
        (["-M", "2", "-m", "num_rel_ret"], "num_rel_ret           \tall\t2"),
        (["-J", "-m", "num_ret"], "num_ret               \tall\t3"),
        (["-l2", "-m", "recip_rank"], "recip_rank            \tall\t0.1667"),
        (["-m", "yaap"], "yaap                  \tall\t0.6931"),
    ],
)
def test_worked_by_hand(arguments, line, files):
    assert printed(arguments, files, JUDGMENTS, RUN).output == f"{line}\n"


def test_what_stands_after_the_tag_does_not_matter(files):
    longer = RUN.replace(" t\n", " t 1 2\n")
    plain = printed(["-m", "official"], files, JUDGMENTS, RUN).output
    assert printed(["-m", "official"], files, JUDGMENTS, longer).output == plain


def test_strings_of_grades(files):
    output = printed(["-q", "-n", "-m", "relstring.3"], files, JUDGMENTS, RUN).output
    assert output == "relstring_3           \t1\t'1-2'\nrelstring_3           \t2\t'1'\n"
    high = printed(["-q", "-n", "-m", "relstring"], files, "1 0 a 12\n1 0 b -2\n", RUN).output
    assert high == "relstring             \t1\t'>-.-'\n"


def test_grades_are_whole_numbers(files):
    output = printed(["-m", "ndcg"], files, "1 0 a 1.9\n1 0 b 2.2\n", RUN).output
    whole = printed(["-m", "ndcg"], files, "1 0 a 1\n1 0 b 2\n", RUN).output
    assert output == whole


def test_versions_differ_in_precision_and_in_missing_queries(files):
    judgments, run = "1 0 x 2\n1 0 y 1\n2 0 x 1\n", "1 Q0 x 1 0.500000001 t\n1 Q0 y 2 0.5 t\n"
    ten = printed(["-c", "-m", "ndcg"], files, judgments, run)
    assert ten.output == "ndcg                  \tall\t0.5000\n"
    nine = printed(["--version-of", "9", "-m", "ndcg"], files, judgments, run)
    assert nine.output == "ndcg                  \tall\t0.8597\n"
    assert printed(["-m", "ndcg"], files, judgments, run).code == 1


def test_deviations(files):
    scores = files("z", "1 map 0.5 0.25\n2 map 1 0\n1 P_5 0.3 0\n")
    output = printed(
        ["-q", "-Z", str(scores), "-m", "map", "-m", "P.5"], files, JUDGMENTS, RUN
    ).output
    assert output.splitlines()[:4] == [
        "map                   \t1\t1.3333",
        "P_5                   \t1\t-1000000.0000",
        "map                   \t2\t0.0000",
        "P_5                   \t2\t-1000000.0000",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["-m", "nosuch"], 1, "trec_eval: illegal measure 'nosuch'\n"),
        (["-m", "P.0"], 2, "trec_eval: Negative cutoff detected\n"),
        (["-m", "P.5,5"], 2, "trec_eval: duplicate cutoffs detected\n"),
        (["-m", "P."], 1, "trec_eval: improper measure in parameter 'P'\n"),
        (["-m", "ndcg.1"], 2, "trec_eval: malformed pair parameters in '1'\n"),
        (["-R", "prefs"], 2, "trec_eval: Illegal rel_format 'prefs'\n"),
        (["-T", "odd"], 2, "trec_eval: Illegal retrieval results format 'odd'\n"),
        (["-x"], 1, "Usage"),
        (["third"], 1, "Usage"),
        (["--version-of", "8"], 1, "--version-of is 9 or 10"),
        (["-Z", "nofile"], 255, "Cannot read zscores file 'nofile'"),
    ],
)
def test_failures(arguments, code, told, files):
    done = printed(arguments, files, JUDGMENTS, RUN)
    assert (done.output, done.code) == ("", code)
    assert told in done.error


def test_files_that_cannot_be_read(files, tmp_path):
    missing = str(tmp_path / "none")
    done = gf.compat.trec_eval([missing, str(files("r", RUN))])
    assert done.code == 2
    assert done.error == (
        f"trec_eval.get_qrels: Cannot read qrels file '{missing}'\n"
        f"trec_eval: Quit in file '{missing}'\n"
    )
    broken = printed([], files, "1 0 a\n", RUN)
    assert (broken.output, broken.code) == ("", 2)
    twice = printed([], files, JUDGMENTS, RUN + "1 Q0 a 5 1 t\n")
    assert (twice.output, twice.code) == ("", 2)
    assert "'a'" in twice.error


def test_help_names_every_measure_of_a_nickname(cli):
    told = cli("trec_eval", "-h")
    assert told.returncode == 0
    for name in ("official", "all_trec", "ndcg_cut", "--version-of", "-J"):
        assert name in told.stdout


def test_no_query_in_both(files):
    done = printed(["--version-of", "9"], files, "9 0 a 1\n", RUN)
    assert (done.output, done.code) == ("", 7)
    assert done.error == "trec_eval: No queries with both results and relevance info\n"
    lost = printed([], files, "9 0 a 1\n", RUN)
    assert (lost.output, lost.code) == ("", 1)
    zero = printed(["-q", "-c", "-m", "map", "-m", "num_rel"], files, "9 0 a 1\n", RUN)
    assert zero.output == (
        "num_rel               \t9\t1\n"
        "map                   \t9\t0.0000\n"
        "num_rel               \tall\t1\n"
        "map                   \tall\t0.0000\n"
    )


def test_random_runs_print_what_pytrec_eval_computes(files):
    rng = random.Random(7)  # noqa: S311 - the same every time
    judgments, run = {}, {}
    for number in range(40):
        docs = [f"d{place}" for place in range(25)]
        judgments[f"q{number}"] = {doc: rng.choice([0, 0, 1, 2]) for doc in rng.sample(docs, 15)}
        run[f"q{number}"] = {doc: float(rng.randrange(9)) for doc in rng.sample(docs, 12)}
    found = pytrec_eval.RelevanceEvaluator(judgments, pytrec_eval.supported_measures).evaluate(run)
    output = printed(
        ["--version-of", "9", "-q", "-m", "all_trec"],
        files,
        "".join(f"{q} 0 {d} {g}\n" for q, docs in judgments.items() for d, g in docs.items()),
        "".join(f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items()),
    ).output
    rows = [line.split("\t") for line in output.splitlines()]
    checked = 0
    for name, query, value in rows:
        if query != "all" and name.strip() != "relstring":
            expected = found[query][name.strip()]
            count = name.startswith("num_")
            assert value == (str(int(expected)) if count else f"{expected:6.4f}"), (name, query)
            checked += 1
    assert checked > 3000
