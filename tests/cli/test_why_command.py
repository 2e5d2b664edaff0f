"""`gainful why`, `gainful dialects` and `--dialect`."""

import json

import pytest

import gainful as gf

QRELS = "q 0 a 1\nq 0 b 2\nq 0 c 0\nq 0 x 3\ne 0 a 0\n"
RUN = "q Q0 a 1 4 t\nq Q0 b 2 3 t\nq Q0 c 3 2 t\nq Q0 u 4 1 t\ne Q0 a 1 1 t\n"


@pytest.fixture
def given(files):
    return str(files("qrels.txt", QRELS)), str(files("my.run", RUN))


@pytest.fixture
def _answered_once(monkeypatch):
    """Compute the answer to a question once; the formats differ only in how they write it."""
    answers = {}

    def once(ask):
        def answer(*given, **options):
            question = ask, repr((given, sorted(options.items())))
            if question not in answers:
                answers[question] = ask(*given, **options)
            return answers[question]

        return answer

    monkeypatch.setattr(gf.explanation, "which", once(gf.explanation.which))
    monkeypatch.setattr(gf, "why", once(gf.why))


@pytest.mark.usefixtures("_answered_once")
def test_why_in_every_format(cli, given):
    found = gf.why(*given, "nDCG@4", dialects=["trec_eval", "lightgbm"])
    for name in gf.writing.formats():
        done = cli("why", *given, "-m", "nDCG@4", "--dialects", "trec_eval,lightgbm", "-f", name)
        bare = name in ("csv", "tsv", "jsonl")
        told = "".join(f"{note}\n" for note in found.basis) if bare else ""
        assert (done.returncode, done.stderr) == (0, told), name
        assert done.stdout == f"{gf.writing.render(found, name)}\n"
        for cause in ("gain", "ideal", "empty"):
            assert cause in done.stdout, name


@pytest.mark.usefixtures("_answered_once")
def test_got(cli, given):
    found = gf.explanation.which(*given, "nDCG@4", got="0.2375")
    for name in ("table", "json"):  # all of them are in the tests of `which`
        done = cli("why", *given, "-m", "nDCG@4", "--got", "0.2375", "-f", name)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{gf.writing.render(found, name)}\n"
        assert "gainful" in done.stdout


@pytest.mark.usefixtures("_answered_once")
@pytest.mark.parametrize("asked", [("--dialects", "catboost"), ("--got", "0.9")])
def test_the_policy_and_what_was_missing_are_said(cli, files, asked):
    given = files("qrels.txt", f"{QRELS}lost 0 a 1\n"), files("my.run", RUN)
    policy, coverage = "policy of gainful: ties=doc ", "1 of 3 queries returned nothing"
    for name in gf.writing.formats():
        done = cli("why", *given, *asked, "-f", name, "--verbose")
        bare = name in ("csv", "tsv", "jsonl")
        told = done.stderr if bare else done.stdout
        assert bare or done.stderr == ""
        if name == "json":
            document = json.loads(told)
            found = document.get("first", document)
            assert found["policy"]["missing"] == "zero"
            assert found["coverage"]["missing_queries"] == ["lost"]
        else:
            assert policy in told
            assert coverage in told


def test_what_was_missing_is_said_where_gainful_itself_stops_at_it(cli, files):
    given = files("qrels.txt", f"{QRELS}lost 0 a 1\n"), files("my.run", RUN)
    done = cli("why", *given, "--got", "0.9", "--missing", "error")
    assert "missing=error" in done.stdout
    assert "1 of 3 queries returned nothing" in done.stdout


def test_why_as_json(cli, given):
    done = cli("why", *given, "--dialects", "trec_eval, rax", "--format", "json")
    document = json.loads(done.stdout)
    assert [cause["cause"] for cause in document["causes"]] == ["gain", "ideal"]
    assert document["gap"] == pytest.approx(sum(cause["part"] for cause in document["causes"]))


def test_digits_and_output(cli, given, tmp_path):
    target = tmp_path / "why.md"
    done = cli("why", *given, "--dialects", "trec_eval,rax", "--digits", "2", "-o", str(target))
    assert (done.returncode, done.stdout) == (0, "")
    assert "| gain | linear | exp2 | -0.08 | 1 | q |" in target.read_text()


def test_one_tool_beside_gainful_under_the_policy_given(cli, given):
    done = cli("why", *given, "--dialects", "lightgbm", "--empty", "one", "-f", "json")
    document = json.loads(done.stdout)
    assert document["first"]["name"] == "gainful"
    assert document["first"]["policy"]["empty"] == "one"
    assert [cause["cause"] for cause in document["causes"]] == ["gain", "ideal"]


@pytest.mark.usefixtures("_answered_once")
def test_a_percentage_is_said_where_there_is_no_room_for_notes(cli, given):
    table = cli("why", *given, "-m", "nDCG@4", "--got", "23.75")
    assert "23.75 is read as a percentage" in table.stdout
    assert table.stderr == ""
    for name in ("csv", "tsv", "jsonl"):
        done = cli("why", *given, "-m", "nDCG@4", "--got", "23.75", "-f", name)
        assert done.returncode == 0, name
        read, *rest = done.stderr.splitlines(keepends=True)
        assert read == "23.75 is read as a percentage, because no value here is above 1.\n", name
        signed = cli("why", *given, "-m", "nDCG@4", "--got", "23.75%", "-f", name)
        assert (signed.stdout, signed.stderr) == (done.stdout, "".join(rest)), name


def test_what_is_no_percentage(cli, given):
    done = cli("why", *given, "-m", "nDCG@4", "--got", "2375")
    assert "No way gives 2375\n" in done.stdout
    assert "2375 is above 100, so it is not read as a percentage." in done.stdout


def test_tools_that_measure_alike(cli, given):
    done = cli("why", *given, "--dialects", "trec_eval,trec_eval-10")
    assert "The numbers are the same. Both tools measure in the same way." in done.stdout
    assert "cause" not in done.stdout


def test_got_without_a_match(cli, given):
    done = cli("why", *given, "--got", "0.123456")
    assert done.returncode == 0
    assert "No way gives 0.123456" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Pass either --dialects or --got."),
        (["--dialects", "rax", "--got", "0.5"], "Pass either --dialects or --got."),
        (["--dialects", "rax,ranx", "--ties", "best"], "leave out --ties"),
        (["--dialects", "rax", "--ties", "bst"], "Did you mean 'best'"),
        (["--dialects", "rax,ranx,beir"], "one or two names of tools"),
        (["--dialects", "rex"], "Did you mean 'rax'"),
        (["--dialects", ""], "the name of a tool"),
        (["--dialects", "rax", "-m", "nDCG@5,10"], "one measure"),
        (["--dialects", "rax", "-m", "AP", "-m", "RR"], "accepts one measure"),
        (["--dialects", "rax", "-m", "nope"], "a measure from the catalogue"),
        (["--dialects", "rax", "-m", "NumRet"], "the mean over the queries"),
        (["--got", "abc"], "a number such as 0.4231 or 42.31%"),
        (["--got", "%"], "a number such as 0.4231 or 42.31%"),
        (["--got", "0.5", "-o", "x.nope"], "isn't the extension of a format"),
        (["--got", "0.5", "--format", "nope"], "nope"),
        (["--got", "0.5", "--columns", "query"], "ROLE=NAME"),
    ],
)
def test_usage(cli, given, arguments, said):
    done = cli("why", *given, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_files_that_are_not_there(cli, given):
    for arguments in (["--dialects", "rax"], ["--got", "0.5"]):
        done = cli("why", "none.qrels", given[1], *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "none.qrels" in done.stderr


def test_standard_input_cannot_be_read_twice(cli, given):
    done = cli("why", "-", "-", "--got", "0.5")
    assert done.returncode == 2
    assert "Standard input can be read only once" in done.stderr


def test_an_output_that_is_an_input(cli, given):
    done = cli("why", *given, "--got", "0.5", "-o", given[1])
    assert done.returncode == 2
    assert "is one of the inputs" in done.stderr


def test_grades_that_a_tool_refuses(cli, files):
    qrels, run = files("half.txt", "q 0 a 0.5\n"), files("half.run", "q Q0 a 1 1 t\n")
    for command in (
        ["why", qrels, run, "--dialects", "rax,lightgbm"],
        ["evaluate", qrels, run, "--dialect", "lightgbm"],
    ):
        done = cli(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert "gainful: error: dialect lightgbm: expected integer grades" in done.stderr


def test_in_a_process_of_its_own(cli, given):
    done = cli("why", *given, "--dialects", "rex")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gainful: error: dialect: expected the name of a tool")
    assert "Traceback" not in done.stderr


# evaluate --dialect


@pytest.mark.parametrize(
    ("option", "answer"),
    [(f"--{c.name.replace('_', '-')}", c.default) for c in gf.measures.choices()],
)
def test_a_dialect_beside_a_choice_of_the_policy(cli, given, option, answer):
    """Also where it is the default that is written out."""
    done = cli("evaluate", *given, "--dialect", "rax", option, answer)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--dialect has its own policy: leave out {option}." in done.stderr


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        (["--bounds", "--grades", "0,1"], "nDCG with norm=ideal, ideal=judged"),
        (["--subtopics"], "dialect: expected none: measures of subtopics are gainful's own"),
    ],
)
def test_a_dialect_beside_what_has_none(cli, given, beside, told):
    done = cli("evaluate", *given, "--dialect", "rax", *beside)
    assert done.returncode == 2
    assert told in done.stderr


def test_evaluate_tells_the_dialect(cli, given):
    done = cli("evaluate", *given, "--dialect", "sklearn", "-m", "ndcg_score@4")
    assert done.returncode == 0
    assert "nDCG(ideal=retrieved)@4" in done.stdout
    assert "\ndialect: scikit-learn\npolicy: ties=average" in done.stdout
    bare = cli("evaluate", *given, "--dialect", "sklearn", "-f", "csv")
    assert bare.stdout.splitlines()[0] == "run,nDCG(ideal=retrieved)@10"
    assert "\ndialect: scikit-learn\npolicy: ties=average" in bare.stderr
    plain = cli("evaluate", *given, "-f", "csv")
    assert "dialect" not in plain.stderr


# dialects


@pytest.mark.parametrize("name", gf.writing.formats())
def test_dialects_in_every_format(cli, name):
    done = cli("dialects", "-f", name)
    assert (done.returncode, done.stderr) == (0, "")
    for each in gf.measures.dialects():
        assert each.name.replace("_", "\\_") in done.stdout or each.name in done.stdout
    one = cli("dialects", "sklearn", "-f", name)
    assert (one.returncode, one.stderr) == (0, "")
    assert "ValueError" in one.stdout


def test_dialects_as_json(cli):
    rows = json.loads(cli("dialects", "-f", "json").stdout)
    assert [row["dialect"] for row in rows] == [each.name for each in gf.measures.dialects()]
    assert {row["measure"] for row in rows} >= {"nDCG", "nDCG(gain=exp2, ideal=retrieved)@32"}
    keys = [
        "dialect",
        "tool",
        "measure",
        "policy",
        "names",
        "grades",
        "decimals",
        "ties",
        "note",
        "faults",
    ]
    assert {tuple(row) for row in rows} == {tuple(keys)}
    for row in rows:
        (one,) = json.loads(cli("dialects", row["dialect"], "-f", "json").stdout)
        assert one == row
    by_name = {row["dialect"]: row for row in rows}
    assert by_name["gdeval"]["decimals"] == 5
    assert by_name["gdeval"]["policy"] == "ties=doc negative=zero missing=skip empty=skip_all"
    assert by_name["scikit-learn"]["names"] == "ndcg_score=nDCG; dcg_score=DCG"
    assert by_name["rax"]["grades"] is by_name["rax"]["ties"] is None


def test_dialects_fit_a_terminal(cli):
    listed = cli("dialects").stdout
    assert "gainful dialects NAME describes one in full." in listed
    assert max(map(len, listed.splitlines())) <= 100
    for each in gf.measures.dialects():
        told = cli("dialects", each.name).stdout
        assert max(map(len, told.splitlines())) <= 100
        plain = " ".join(told.split())
        for name, text in each.facts():
            assert f"{name} {text}" in plain


def test_one_dialect(cli):
    done = cli("dialects", "gdeval")
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert ["decimals", "5"] in lines
    assert ["policy", "ties=doc negative=zero missing=skip empty=skip_all"] in lines


def test_an_unknown_dialect(cli):
    done = cli("dialects", "lightgm")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'lightgbm'" in done.stderr
    for each in gf.measures.dialects():
        assert each.name in done.stderr
