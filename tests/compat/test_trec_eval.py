"""`gainful trec_eval` prints what trec_eval prints: recorded calls, options, and failures."""

import io
import json
import math
import random
import re
import shlex
import sys
from pathlib import Path

import pytest
import pytrec_eval
from click.testing import CliRunner

import gainful as gf
from every_case import assert_every_case
from gainful.cli.trec_eval import trec_eval as command
from gainful.compat.trec_eval import run_with_graded_judgments

RECORDED = Path(__file__).parent / "trec_eval"
CALLS = sorted(path.stem for path in RECORDED.glob("*.cmd"))
STOPPED = {"v10.plain": 4, "v10.unknown": 1}  # exit codes
# Random calls that against_trec_eval.py has recorded: bytes as latin-1, one object a line.
RANDOM = [json.loads(line) for line in (RECORDED / "random.jsonl").read_text().splitlines()]


def recorded(name):
    """Return the arguments of a recorded call, with our option for the version."""
    words = shlex.split((RECORDED / f"{name}.cmd").read_text())[1:]
    return ["--version-of", name.partition(".")[0].removeprefix("v"), *words]


def lacking(query):
    """Return what is said where the run lacks a query."""
    return (
        f"trec_eval: query '{query}' is judged, but missing from the run. Use -c to count such "
        "queries as 0, or --version-of 9 to leave them out.\n"
    )


@pytest.mark.parametrize("name", CALLS)
def test_recorded_calls(name, monkeypatch):
    monkeypatch.chdir(RECORDED)
    printed = gf.compat.trec_eval(recorded(name))
    assert printed.output == (RECORDED / f"{name}.out").read_text()
    error = RECORDED / f"{name}.err"
    theirs = error.read_text() if error.exists() else ""
    # trec_eval 10 says of a query that the run lacks that the judgments do.
    swapped = re.fullmatch(r"trec_eval: result qid '(.+)' not found in qrels\n", theirs)
    assert printed.error == (lacking(swapped[1]) if swapped else theirs)
    assert printed.code == STOPPED.get(name, 0)


def test_there_are_recorded_calls_of_both_versions():
    assert {name.partition(".")[0] for name in CALLS} == {"v9", "v10"}
    assert len(CALLS) == 22


def check_recorded(call, monkeypatch):
    """Make a recorded call in the current folder."""
    for name, content in call["files"].items():
        if name == "-":
            given = io.TextIOWrapper(io.BytesIO(content.encode("latin-1")))
            monkeypatch.setattr(sys, "stdin", given)
        else:
            Path(name).write_bytes(content.encode("latin-1"))
    done = gf.compat.trec_eval(["--version-of", str(call["version"]), *call["arguments"]])
    assert done.output.encode(errors="surrogateescape").decode("latin-1") == call["output"]
    assert (done.code, bool(done.error)) == (call["code"], call["told"])


def check_random(numbers, tmp_path):
    """Make several of the random calls, each in a folder of its own."""

    def check(number):
        (tmp_path / str(number)).mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path / str(number))
            check_recorded(RANDOM[number], patch)

    assert_every_case(check, numbers)


def test_recorded_random_calls(tmp_path):
    check_random(range(len(RANDOM)), tmp_path)


def test_random_calls_with_runs_that_count_as_large(tmp_path, monkeypatch):
    """Of a large run that is not clean, a copy is matched; the engine takes what is unusual."""
    monkeypatch.setattr(run_with_graded_judgments, "_LARGE", 0)
    check_random(range(0, len(RANDOM), 4), tmp_path)


def test_random_calls_are_of_all_kinds():
    assert {call["version"] for call in RANDOM} == {9, 10}
    assert {call["code"] for call in RANDOM} >= {0, 1, 2, 4, 7}
    words = {word for call in RANDOM if call["code"] == 0 for word in call["arguments"]}
    assert words >= {"-c", "-J", "-M", "-Z", "-l", "prefs", "qrels_prefs", "qrels_jg", "all_prefs"}


def test_the_command_line(cli, monkeypatch):
    monkeypatch.chdir(RECORDED)
    done = cli("trec_eval", "-q", "-c", "qrels", "run")
    assert done.stdout == (RECORDED / "v10.q-c.out").read_text()
    assert (done.returncode, done.stderr) == (0, "")
    stopped = cli("trec_eval", "qrels", "run")
    assert (stopped.returncode, stopped.stdout) == (4, "")
    assert stopped.stderr == lacking("305")
    for way in (["-c"], ["--version-of", "9"]):  # the ways that it names
        assert cli("trec_eval", *way, "qrels", "run").returncode == 0
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
    assert printed(["-m", "ndcg"], files, judgments, run).code == 4


MEANS = "1 map 0.5 0.25\n2 map 1 0\n1 P_5 0.3 0\n2 num_ret 3 2\n"


def deviations(arguments, files, means=MEANS):
    return printed(["-q", "-Z", str(files("z", means)), *arguments], files, JUDGMENTS, RUN).output


def test_deviations(files):
    # (5/6 − 1/2) / (1/4) = 4/3; a mean without a deviation; and no mean at all.
    assert deviations(["-m", "map", "-m", "P.5"], files).splitlines() == [
        "Zmap                   \t1\t1.3333",
        "ZP_5                   \t1\t-1000000.0000",
        "Zmap                   \t2\t0.0000",
        "ZP_5                   \t2\t-1000000.0000",
        "Zmap                   \tall\t0.6667",
        "ZP_5                   \tall\t-1000000.0000",
    ]


def test_deviations_of_counts_have_digits_and_texts_no_letter(files):
    lines = deviations(["-m", "num_ret", "-m", "num_q", "-m", "runid", "-m", "relstring"], files)
    assert lines.splitlines() == [
        "Znum_ret               \t1\t-1000000.0000",
        "relstring             \t1\t'1-2.'",
        "Znum_ret               \t2\t-1.0000",
        "relstring             \t2\t'1'",
        "runid                 \tall\ttag",
        "Znum_q                 \tall\t2.0000",
        "Znum_ret               \tall\t-1000001.0000",
    ]


@pytest.mark.parametrize("means", ["1 map 0.5\n", "1 map 0.5 1 2\n", "\n", ""])
def test_means_that_cannot_be_read(means, files):
    arguments = ["-Z", str(files("z", means)), "-m", "map"]
    done = printed(arguments, files, JUDGMENTS, RUN)
    assert (done.output, done.code) == ("", 255)
    assert done.error


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["-m", "nosuch"], 1, "trec_eval: illegal measure 'nosuch'\n"),
        (["-m", "P.0"], 2, "trec_eval: Negative cutoff detected\n"),
        (["-m", "P.5,5"], 2, "trec_eval: duplicate cutoffs detected\n"),
        (["-m", "P."], 1, "trec_eval: improper measure in parameter 'P'\n"),
        (["-m", "ndcg.1"], 2, "trec_eval: malformed pair parameters in '1'\n"),
        (["-R", "odd"], 2, "trec_eval: Illegal rel_format 'odd'\n"),
        (["-R", "prefs"], 2, "Malformed line 1"),
        (["-R", "qrels_prefs", "-m", "map"], 4, "Can't calculate measure 'map'\n"),
        (["-R", "qrels_jg", "-m", "official"], 4, "Can't calculate measure 'num_ret'\n"),
        (["-m", "prefs"], 4, "Can't calculate measure 'prefs_num_prefs_poss'\n"),
        (["-m", "utility.1,2"], 4, "Can't calculate measure 'utility'\n"),
        (["--J=1"], 1, "Usage"),
        (["--M", "1", "--nosummary=1"], 1, "Usage"),
        (["--version-of", "9", "-m", "rbp"], 1, "trec_eval: illegal measure 'rbp'\n"),
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


@pytest.mark.parametrize("last", ["-m", "-qm", "--measure", "--Z"])
def test_an_option_without_its_value(last):
    done = gf.compat.trec_eval(["judgments", "run", last])
    assert (done.output, done.code) == ("", 1)
    assert "requires a value" in done.error


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
    assert (twice.output, twice.code) == ("", 4)
    assert "duplicate docs a\n" in twice.error
    empty = printed([], files, JUDGMENTS, "")
    assert (empty.output, empty.code) == ("", 2)


def test_what_comes_before_a_fault_is_printed(files):
    twice = RUN + "2 Q0 a 2 0 t\n"
    done = printed(["-q", "-m", "num_ret"], files, JUDGMENTS, twice)
    assert (done.output, done.code) == ("num_ret               \t1\t4\n", 4)
    # What stands twice beyond -M, in a query without judgments, or is not measured, does not matter.
    assert printed(["-M", "1", "-m", "num_ret"], files, JUDGMENTS, twice).code == 0
    assert printed(["-m", "num_q"], files, JUDGMENTS, twice).code == 0
    assert printed([], files, JUDGMENTS, RUN + "3 Q0 a 1 1 t\n" * 2).code == 0
    lacking = printed(["-q", "-m", "num_ret"], files, JUDGMENTS + "3 0 a 1\n", RUN)
    assert (len(lacking.output.splitlines()), lacking.code) == (2, 4)


@pytest.mark.parametrize("place", [0, 1, 3])
def test_comments_are_skipped_since_version_10(place, files):
    def commented(text):
        lines = text.splitlines(keepends=True)
        return "".join([*lines[:place], "# a b c d e f\n", *lines[place:]])

    plain = printed(["-m", "official"], files, JUDGMENTS, RUN)
    both = commented(JUDGMENTS), commented(RUN)
    assert printed(["-m", "official"], files, *both) == plain
    assert printed(["--version-of", "9"], files, commented(JUDGMENTS), RUN).code == 2
    nine = printed(["--version-of", "9", "-m", "num_ret"], files, JUDGMENTS, commented(RUN))
    assert nine.output == "num_ret               \tall\t5\n"  # the comment is a query of its own


def test_of_two_comments_in_judgments_the_second_is_a_line(files):
    assert printed([], files, f"# one\n# two\n{JUDGMENTS}", RUN).code == 2
    assert printed([], files, JUDGMENTS, f"# one\n # two\n\n{RUN}").code == 0


@pytest.mark.parametrize(
    ("judgments", "run", "code"),
    [
        (f"{JUDGMENTS}# the end\n", RUN, 0),
        (JUDGMENTS, f"{RUN}# the end\n", 0),
        ("# nothing\n", RUN, 2),
        (JUDGMENTS, "# nothing\n\n", 4),
        (JUDGMENTS.replace("b 2", "b\0 2"), RUN, 2),
        (JUDGMENTS, RUN.replace("x", "\0"), 2),
        ("1 0 a -1\n2 0 a 1\n", RUN, 4),  # no room for the grades of the first query
        ("1 0 a 1\n2 0 a -1\n", RUN, 0),
    ],
)
def test_files_at_which_trec_eval_stops_or_crashes(judgments, run, code, files):
    done = printed(["-m", "all_trec"], files, judgments, run)
    assert done.code == code
    assert bool(done.output) == (code == 0)
    assert bool(done.error) == (code != 0)


def test_gains_that_differ_by_less_than_one_count_as_equal(files):
    """The ideal order is b, then c, whose gain of 0 ends it: a, of gain 0.5, is not in it."""
    judgments, run = "1 0 a 1\n1 0 b 2\n1 0 c 0\n", "1 Q0 a 1 9 t\n1 Q0 b 2 8 t\n"
    output = printed(["-m", "ndcg.1=0.5,2=1"], files, judgments, run).output
    value = (0.5 + 1 / math.log2(3)) / 1
    assert output == f"ndcg_1=0.5,2=1        \tall\t{value:.4f}\n"
    apart = printed(["-m", "ndcg.1=5,2=10"], files, judgments, run).output
    assert apart == f"ndcg_1=5,2=10         \tall\t{value / (1 + 0.5 / math.log2(3)):.4f}\n"


BEYOND = pytest.mark.parametrize(
    "written",
    [
        *("ndcg.1=nan", "ndcg.1=inf", "G.1=-inf", "Rndcg.2=nan", "ndcg_rel.1=1e300,2=-1e300"),
        *("rbp.p=nan", "rbp.1=nan", "set_F.-1", "utility.nan,1,1,1", "P.9223372036854775808"),
        *("Rprec_mult.-1,nan,inf", "11pt_avg.x", "iprec_at_recall.-1,7", "relstring.1e99"),
        *("relstring.-3", "relstring.nan"),
    ],
)


def test_the_mean_of_negative_zeros_is_zero(files):
    output = printed(["-q", "-m", "rbp.p=2"], files, "1 0 x 0\n2 0 x 0\n", RUN).output
    assert output.splitlines()[-1] == "rbp_p=2               \tall\t0.0000"
    assert output.count("-0.0000") == 2


@BEYOND
def test_parameters_beyond_any_use_end_in_an_answer(written, files):
    done = printed(["-q", "-m", written], files, JUDGMENTS, RUN)
    assert (done.code, done.error) == (0, "")
    assert done.output.startswith(written.partition(".")[0])


@pytest.mark.parametrize(
    ("scores", "string"),
    [
        # By score, then by id descending: a is graded 1, b 2, c 3.
        (("1", "2", "3"), "321"),
        (("inf", "2", "-inf"), "123"),
        (("Infinity", "1e999", "3"), "213"),
        (("0x10", "15", "14.5x"), "123"),
        (("none", "-1", ""), "132"),
        # Nothing is above or below nan, so ids decide: b before a, and c before both or by its score.
        (("nan", "nan", "nan"), "321"),
        (("1", "nan", "5"), "321"),
    ],
)
def test_scores_as_they_are_written(scores, string, files):
    run = "".join(
        f"1 Q0 {doc} 0 {score} t\n" for doc, score in zip("abc", scores, strict=True) if score
    )
    run += "" if scores[2] else "1 Q0 c 0 -0.5 t\n"
    judgments = "1 0 a 1\n1 0 b 2\n1 0 c 3\n"
    output = printed(["-q", "-n", "-m", "relstring"], files, judgments, run).output
    assert output == f"relstring             \t1\t'{string}'\n"


@pytest.mark.parametrize(("written", "string"), [("relstring", ""), ("relstring.5", "-")])
def test_strings_of_a_query_that_the_run_lacks(written, string, files):
    arguments = ["-q", "-n", "-c", "-m", written, "-D", "0.3"]
    output = printed(arguments, files, JUDGMENTS + "3 0 a 1\n", RUN).output
    assert output == f"{written.replace('.', '_'):<22}\t3\t'{string}'\n"


def test_one_query_alone(files):
    output = printed(["-D", "5.2", "-q", "-m", "num_ret"], files, JUDGMENTS, RUN).output
    assert output == "num_ret               \t2\t1\nnum_ret               \tall\t1\n"
    assert printed(["-D", "0.nosuch"], files, JUDGMENTS, RUN).code == 7


def test_ids_that_are_no_utf8(files):
    judgments = files("q", b"\xe9 0 \xff 1\n\x1b[1m 0 a 1\n")
    run = files("r", b"\xe9 Q0 \xff 1 1 t\n\x1b[1m Q0 a 1 1 \xe8\n")
    arguments = ["-q", "-m", "map", "-m", "runid", str(judgments), str(run)]
    done = CliRunner().invoke(command, arguments)
    assert done.stdout_bytes == (
        b"map                   \t\x1b[1m\t1.0000\nmap                   \t\xe9\t1.0000\n"
        b"runid                 \tall\t\xe8\nmap                   \tall\t1.0000\n"
    )


def test_clean_files_and_line_by_line_agree(files, monkeypatch):
    """A blank line sends a run the slow way, or to a copy without it, and changes nothing."""
    rng = random.Random(3)  # noqa: S311 - the same every time
    for version in ("9", "10"):
        for _ in range(5):
            docs = [f"d{place}" for place in range(20)]
            judgments = "".join(
                f"q{number} 0 {doc} {rng.randrange(-1, 4)}\nq{number} 0 x{doc} 1\n"
                for number in range(4)
                for doc in rng.sample(docs, 9)
            )
            run = "".join(
                f"q{number} Q0 {doc} 0 {rng.randrange(7) / 3} t\n"
                for number in range(4)
                for doc in rng.sample(docs, 12)
            )
            options = ["--version-of", version, "-q", "-c", "-m", "all_trec"]
            options += rng.choice([[], ["-J"], ["-M", "5"], ["-l", "2"]])
            fast = printed(options, files, judgments, run)
            slow = printed(options, files, judgments, f"\n{run}")
            assert fast.code == 0
            assert fast == slow
            with monkeypatch.context() as patch:
                patch.setattr(run_with_graded_judgments, "_LARGE", 0)
                assert printed(options, files, judgments, f"\n{run}") == fast


def test_help_names_every_measure_of_a_nickname(cli):
    told = cli("trec_eval", "-h")
    assert told.returncode == 0
    for name in ("official", "all_trec", "ndcg_cut", "--version-of", "-J", "qrels_jg", "prefs"):
        assert name in told.stdout


def test_no_query_in_both(files):
    done = printed(["--version-of", "9"], files, "9 0 a 1\n", RUN)
    assert (done.output, done.code) == ("", 7)
    assert done.error == "trec_eval: No queries with both results and relevance info\n"
    lost = printed([], files, "9 0 a 1\n", RUN)
    assert (lost.output, lost.code) == ("", 4)
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
