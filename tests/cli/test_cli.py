"""The command line as a user calls it: output, errors, exit codes."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest

import gainful as gf

QRELS = "q1 0 a 3\nq1 0 b 2\nq1 0 c 0\nq2 0 d 1\nq3 0 e 1\n"
RUN = "q1 Q0 a 1 0.9 t\nq1 Q0 u 2 0.8 t\nq1 Q0 b 3 0.7 t\nq2 Q0 x 1 2 t\nq2 Q0 d 2 1 t\n"


@pytest.fixture
def pair(files):
    return files("qrels.txt", QRELS), files("system.run", RUN)


def test_evaluate_prints_means_policy_and_coverage(cli, pair):
    done = cli("evaluate", *pair, "-m", "nDCG@2", "-m", "CG")
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["run", "nDCG@2", "CG"]
    assert lines[2].split() == ["system", "0.4449", "2.0000"]
    assert "policy: default" in done.stdout
    assert "1 of 3 queries returned nothing" in done.stdout


def test_every_format_holds_the_same_numbers(cli, pair):
    scores = gf.evaluate(*pair, ["nDCG@2", "CG"])
    call = ("evaluate", *pair, "-m", "nDCG@2", "-m", "CG", "-f")
    for name, separator in (("csv", ","), ("tsv", "\t")):
        (row,) = csv.DictReader(io.StringIO(cli(*call, name).stdout), delimiter=separator)
        assert float(row["nDCG@2"]) == scores["nDCG@2"]
    assert json.loads(cli(*call, "jsonl").stdout) == {"run": "system", **scores.means}
    document = json.loads(cli(*call, "json").stdout)
    assert document["runs"][0]["means"] == scores.means
    assert document["runs"][0]["signatures"]["CG"] == scores.signature("CG")
    assert document["runs"][0]["coverage"]["missing_queries"] == ["q3"]
    assert document["policy"]["ties"] == "doc"
    assert "| system | 0.4449 | 2.0000 |" in cli(*call, "markdown").stdout
    assert r"system & 0.4449 & 2.0000 \\" in cli(*call, "latex").stdout
    assert "<td>system</td>" in cli(*call, "html").stdout


def test_per_query(cli, pair):
    done = cli("evaluate", *pair, "-m", "nDCG@2", "--per-query", "-f", "tsv")
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()] == [
        ["run", "query"],
        ["system", "q1"],
        ["system", "q2"],
        ["system", "q3"],
    ]
    document = json.loads(cli("evaluate", *pair, "--per-query", "-f", "json").stdout)
    assert document["runs"][0]["per_query"][2] == {"query": "q3", "nDCG@10": 0.0}


def test_several_runs_in_one_table(cli, pair, files):
    other = files("other.run", RUN.replace("0.9", "0.1"))
    done = cli("evaluate", *pair, other, "--digits", "2")
    assert [line.split()[0] for line in done.stdout.splitlines()[2:4]] == ["system", "other"]
    same = files("system.txt", RUN)
    assert "system.run" in cli("evaluate", *pair, same).stdout
    assert cli("evaluate", *pair, pair[1]).returncode == 2


def test_policies_are_options(cli, pair):
    done = cli("evaluate", *pair, "--missing", "skip", "-f", "json")
    assert json.loads(done.stdout)["policy"]["missing"] == "skip"
    done = cli("evaluate", *pair, "--ties", "averaged")
    assert done.returncode == 2
    assert "Did you mean 'average'" in done.stderr


def test_standard_input(cli, pair, files):
    done = cli("evaluate", pair[0], "-", stdin=RUN)
    assert done.returncode == 0, done.stderr
    done = cli("evaluate", "-", pair[1], files("other.run", RUN), stdin=QRELS)
    assert done.returncode == 0, done.stderr
    assert cli("evaluate", "-", "-", stdin=QRELS).returncode == 2
    marked = cli("evaluate", "-", pair[1], "-f", "csv", stdin="\ufeff" + QRELS)
    assert marked.stdout == cli("evaluate", *pair, "-f", "csv").stdout


def test_output_goes_to_a_file_that_is_replaced_when_complete(cli, pair, tmp_path):
    target = tmp_path / "scores.csv"
    target.write_text("old")
    assert cli("evaluate", *pair, "-m", "nope", "-f", "csv", "-o", target).returncode == 2
    assert target.read_text() == "old"
    done = cli("evaluate", *pair, "-f", "csv", "-o", target)
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_text().startswith("run,nDCG@10\nsystem,")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "qrels.txt",
        "scores.csv",
        "system.run",
    ]
    done = cli("evaluate", *pair, "-o", tmp_path / "no such folder" / "x")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_input_is_never_overwritten(cli, pair):
    done = cli("evaluate", *pair, "-o", pair[1])
    assert done.returncode == 2
    assert "is one of the inputs" in done.stderr
    assert cli("explain", *pair, "--query", "q1", "-o", pair[0]).returncode == 2
    assert (pair[0].read_text(), pair[1].read_text()) == (QRELS, RUN)


def test_formats_for_programs_say_policy_and_coverage_on_standard_error(cli, pair):
    for name in ("csv", "tsv", "jsonl"):
        done = cli("evaluate", *pair, "-f", name, "--missing", "skip", "--per-query")
        assert "missing=skip" in done.stderr
        assert "returned nothing" in done.stderr
        assert "policy" not in done.stdout


def test_every_format_of_an_explanation_has_the_value(cli):
    for name in gf.writing.formats():
        assert (
            "0.756"
            in cli("explain", "3,2,3,0,1,2", "--judged", "3,2,3,0,1,2,3,2", "-f", name).stdout
        )


def test_links_devices_and_permissions_stay_what_they_are(cli, pair, tmp_path):
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    assert cli("evaluate", *pair, "-f", "csv", "-o", link).returncode == 0
    assert link.is_symlink()
    assert target.read_text().startswith("run,")
    assert target.stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert cli("evaluate", *pair, "-f", "csv", "-o", pipe).returncode == 0
        assert reader.communicate(timeout=30)[0].startswith("run,")
    assert pipe.is_fifo()


@pytest.mark.parametrize("output", ["/", "no such folder/x"])
def test_an_output_that_cannot_be_written_is_named(cli, pair, output):
    done = cli("evaluate", *pair, "-o", output)
    assert done.returncode == 2
    assert f"{output}: expected a file that can be written" in done.stderr


COMMANDS = [
    "evaluate",
    "evaluate --bounds --grades 0,1",
    "explain --query q",
    "check",
    "compare run",
    "power run",
]


@pytest.mark.parametrize("command", [*COMMANDS, "pool --depth 3", "why --got 0.5"])
def test_it_is_named_before_anything_is_read(cli, command):
    done = cli(*command.split(), "no judgments", "no run", "-o", "no such folder/x")
    assert done.returncode == 2
    assert "no such folder/x: expected a file that can be written" in done.stderr


def test_an_output_without_a_name_is_told_to_want_one(cli, pair):
    done = cli("evaluate", *pair, "-o", "")
    assert done.returncode == 2
    assert "'': expected the name of a file to write, found an empty one." in done.stderr


def test_a_closed_pipe_and_a_closed_input_are_no_accidents(pair):
    program = f"{sys.executable} -m gainful"
    shell = f"{program} measures nDCG -f json | true; echo ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", shell], capture_output=True, text=True).stdout == "0\n"
    shell = f"{program} evaluate - {pair[1]} <&-"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_terminal_that_lacks_characters(pair):
    command = [sys.executable, "-m", "gainful", "evaluate", *map(str, pair)]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"system" in done.stdout


def test_large_tables_are_written_at_once(cli):
    grades = ",".join(["1"] * 20_000)
    done = cli("explain", grades, "-m", "DCG")
    assert done.stdout.count("\n") > 20_000


def test_ids_that_would_steer_a_terminal_are_shown(cli, files):
    qrels, run = files("qrels", "q\x1b[31m 0 a 1\n"), files("run", "q\x1b[31m Q0 a 1 1 t\n")
    done = cli("evaluate", qrels, run, "--per-query")
    assert "\x1b" not in done.stdout
    assert "q\\x1b[31m" in done.stdout


def test_choices_that_mean_nothing_for_a_list_are_refused(cli):
    assert "--ties requires JUDGMENTS and RUN" in cli("explain", "1,0", "--ties", "best").stderr
    assert "has no value under the policy" in cli("explain", "0,0", "--empty", "skip").stderr
    assert json.loads(cli("explain", "0,0", "--empty", "nan", "-f", "json").stdout)["value"] is None


def test_white_space_of_every_kind(cli, files):
    spread = QRELS.replace(" ", "\t ").replace("\n", "  \r\n") + "\n\n"
    ragged = files("ragged", b"\xef\xbb\xbf" + spread.encode())
    plain = files("qrels.txt", QRELS)
    run = files("run", RUN)
    call = ("-m", "nDCG", "-f", "csv")
    assert cli("evaluate", ragged, run, *call).stdout == cli("evaluate", plain, run, *call).stdout


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        ("q1 0 a\n", RUN, "qrels.txt:1: expected 4 fields (query iteration doc grade), found 3: 'q1 0 a'."),
        (RUN, QRELS, "This looks like a run, but it was passed as judgments. "),
        (QRELS, QRELS, "This looks like judgments, but they were passed as a run. "),
        ("q1 0 a good\n", RUN, "qrels.txt:1: expected a finite number as the grade, found 'good'"),
        ("q1 0 a nan\n", RUN, "qrels.txt:1: expected a finite number as the grade, found 'nan'"),
        (QRELS, "q1 Q0 a 1 0.9 t\nq1 Q0 b 2 inf t\n", "system.run:2: expected a finite number as the score"),
        (QRELS, "q1 Q0 a 1 1,5 t\n", "system.run:1: expected a finite number as the score, found '1,5'"),
        (QRELS, "q1 Q0 a 1 0.9 t\nq1 Q0 a 2 0.8 t\n", "system.run:2: expected each document once for a query, found document 'a' of query 'q1' again."),
        (QRELS, "", "system.run: expected a run of scores, found an empty file"),
        ("", RUN, "qrels.txt: expected judgments of grades, found an empty file"),
        (b"\xff\xfe\x00\x01 0 a 1\n", RUN, "expected UTF-8 text"),
        (b"\x1f\x8b\x08\x00 packed", RUN, "qrels.txt: expected a whole compressed file, found one that is cut off or damaged"),
        (QRELS, "x1 Q0 a 1 0.9 t\n", "query ids: expected judgments and run to share some"),
    ],
)  # fmt: skip
def test_bad_files_are_one_paragraph_and_exit_2(cli, files, qrels, run, said):
    done = cli("evaluate", files("qrels.txt", qrels), files("system.run", run))
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.startswith("gainful: error: ")
    assert done.stderr.count("\n") == 1
    assert done.stderr.count("expected") == 1


def test_duplicates_by_choice(cli, files):
    qrels = files("qrels.txt", "q 0 a 1\nq 0 b 0\n")
    run = files("run", "q Q0 a 1 0.1 t\nq Q0 b 2 0.5 t\nq Q0 a 3 0.9 t\n")
    values = {
        rule: cli("evaluate", qrels, run, "--duplicates", rule, "-f", "csv").stdout
        for rule in ("first", "best")
    }
    assert values["first"].endswith(",0.6309297535714575\n")
    assert values["best"].endswith(",1.0\n")


def test_files_that_are_none(cli, pair, tmp_path):
    (tmp_path / "empty").mkdir()
    folder = tmp_path / "empty"
    for path, said in ((tmp_path / "none", "none of that name"), (folder, "a folder with runs")):
        done = cli("evaluate", pair[0], path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_warning_is_one_line_on_standard_error(cli, files, pair):
    run = files("run", "q1 Q0 A 1 0.9 t\n")
    done = cli("evaluate", pair[0], run)
    assert done.returncode == 0
    assert done.stderr.startswith("gainful: warning: document ids: no retrieved document is judged")
    assert "case-insensitively" in done.stderr


def test_explain_a_list(cli):
    done = cli("explain", "3,2,3,0,1,2", "--judged", "3,2,3,0,1,2,3,2", "-m", "nDCG@6")
    assert done.returncode == 0
    for number in ("6.861", "8.740", "0.785"):
        assert number in done.stdout
    rows = json.loads(cli("explain", "1,0", "-f", "json").stdout)["parts"]["DCG"]["steps"]
    assert [row["rank"] for row in rows] == [1, 2]
    for name in gf.writing.formats():
        assert cli("explain", "1,0", "-f", name).returncode == 0


@pytest.mark.parametrize(
    "words", [["3 2 3 0 1 2"], ["3, 2, 3, 0,1 2"], [*"323012"], ["3,", "2,", "3,0", "1,2"]]
)
def test_grades_may_be_separated_by_spaces_or_commas(cli, words):
    done = cli("explain", *words, "--judged", "3 2 3 0 1 2 3 2")
    assert done.stdout == cli("explain", "3,2,3,0,1,2", "--judged", "3,2,3,0,1,2,3,2").stdout
    assert "0.756" in done.stdout


def test_explain_a_query(cli, pair):
    done = cli("explain", *pair, "--query", "q1", "-m", "nDCG@3")
    assert done.stdout.startswith("nDCG@3 of query q1\n")
    assert "unjudged" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["3,2,x"], "Expected grades such as 3,2,3,0,1,2"),
        (["--jugded", "3"], "--jugded"),
        (["3", "2", "x"], "or JUDGMENTS and RUN"),
        (["a", "b"], "--query ID"),
        (["3,2", "--query", "q"], "--query requires JUDGMENTS and RUN"),
        (["3,2", "--judged", "1"], "all known grades, including the list's"),
        (["3,2", "-m", "nDGC"], "Did you mean 'nDCG'"),
        (["3,2", "-m", "nDCG@1", "-m", "DCG"], "accepts one measure"),
        ([], "Missing argument"),
    ],
)
def test_explain_refuses(cli, arguments, said):
    done = cli("explain", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_list_may_begin_with_a_bad_document(cli):
    assert cli("explain", "-1,2", "-m", "CG").stdout.endswith("CG = 1.000\n")


def facts(family):
    return (
        family.title,
        family.definition,
        family.range,
        family.citation,
        str(family.example),
    )


def test_measures(cli):
    listed = cli("measures").stdout
    exported = json.loads(cli("measures", "-f", "json").stdout)
    assert [row["measure"] for row in exported] == [
        family.name for family in gf.measures.families()
    ]
    for family, row in zip(gf.measures.families(), exported, strict=True):
        assert family.name in listed
        assert set(facts(family)) <= set(row.values())
    assert "Did you mean" in cli("measures", "ndgc").stderr


@pytest.mark.parametrize("name", ["alpha_nDCG", "alpha-nDCG", "D#-nDCG", "MAP-IA"])
def test_a_measure_for_subtopics_says_where_it_belongs(cli, pair, name):
    cutoff = "" if name == "MAP-IA" else "@10"
    done = cli("evaluate", *pair, "-m", f"{name}{cutoff}")
    assert done.returncode == 2
    assert "--subtopic-judgments" in done.stderr
    assert "Did you mean" not in done.stderr
    assert "subtopic" in cli("measures", name).stdout


@pytest.mark.parametrize("name", ["nDCG", "AP", "Rprec", "SDCG", "Unjudged", "NumQ", "11pt"])
def test_a_measure_by_its_name(cli, name):
    """With an optional cutoff, with none, and with one that is always needed."""
    (family,) = (family for family in gf.measures.families() if family.name == name)
    done = cli("measures", name.lower())
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())  # what is long is folded
    for fact in facts(family):
        assert " ".join(fact.split()) in told


def test_help_and_version(cli):
    assert cli("--version").stdout == f"gainful {gf.__version__}\n"
    told = cli("evaluate", "--help").stdout
    for choice in gf.measures.choices():
        assert f"--{choice.name.replace('_', '-')}" in told
    assert cli("nonsense").returncode == 2
    assert cli("evaluate").returncode == 2


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("evaluat", "gainful evaluate"),
        ("trec-eval", "gainful trec_eval"),
        ("which", "gainful why --got"),
    ],
)
def test_the_closest_command_is_suggested(cli, name, meant):
    done = cli(name)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"No such command '{name}'. Did you mean '{meant}'?" in done.stderr
    assert "Did you mean" not in cli("zzzz").stderr


def test_the_name_of_the_output_tells_the_format(cli, pair, tmp_path):
    for ending, start in (
        ("csv", "run,nDCG@10"),
        ("json", "{"),
        ("md", "| run"),
        ("txt", "run "),
    ):
        path = tmp_path / f"out.{ending}"
        assert cli("evaluate", *pair, "-o", path).returncode == 0
        assert path.read_text().startswith(start)
    cli("evaluate", *pair, "-o", tmp_path / "out.csv", "-f", "tsv")
    assert (tmp_path / "out.csv").read_text().startswith("run\tnDCG@10")
    done = cli("evaluate", *pair, "-o", tmp_path / "x.parqet")
    assert done.returncode == 2
    assert "Did you mean '.parquet'?" in done.stderr
