"""`--columns` in every command: what is named is honoured, or refused with what to write."""

import pytest

# By hand: 1, 3, 2 in the order of the ranks, against 3, 2, 1.
RATED = "7\t1\t3\t978300760\n7\t2\t2\t978302109\n7\t3\t1\t978301968\n"  # user, item, rating, time
PLACED = "7\t2\t3\n7\t3\t1\n7\t1\t2\n"
NAMES = ("judgments.query=1", "judgments.doc=2", "judgments.grade=3")
PLACES = ("run.query=1", "run.doc=2", "run.rank=3")
VALUE = (1 + 3 / 1.584962500721156 + 2 / 2) / (3 + 2 / 1.584962500721156 + 1 / 2)


@pytest.fixture
def paths(tmp_path):
    judgments, run = tmp_path / "u.data", tmp_path / "run.tsv"
    judgments.write_text(RATED)
    run.write_text(PLACED)
    (tmp_path / "other.tsv").write_text(PLACED)
    return judgments, run


def named(*columns):
    return [word for column in columns for word in ("--columns", column)]


def commands(judgments, run, folder):
    """Return the arguments of every command that reads files, and which sides it reads."""
    return {
        "evaluate": (["evaluate", judgments, run], "both"),
        "bounds": (["evaluate", judgments, run, "--bounds", "--grades", "0..3"], "both"),
        "compare": (["compare", judgments, run, folder / "other.tsv"], "both"),
        "explain": (["explain", judgments, run, "--query", "7"], "both"),
        "why": (["why", judgments, run, "--dialects", "trec_eval"], "both"),
        "check": (["check", judgments, run], "both"),
        "report": (["report", judgments, run, "-o", folder / "page.html"], "both"),
        "pool": (["pool", run, "--judgments", judgments], "both"),
        "run": (["convert", run, folder / "out.run", "--as", "run"], "run"),
        "judgments": (["convert", judgments, folder / "out.qrels", "--as", "judgments"], "judgments"),
    }  # fmt: skip


def test_every_command_honours_or_refuses(paths, cli, tmp_path):
    for name, (command, side) in commands(*paths, tmp_path).items():
        own = [*(NAMES if side != "run" else ()), *(PLACES if side != "judgments" else ())]
        done = cli(*command, *named(*own))
        assert done.returncode == 0, (name, done.stderr)
        for wrong, said in (("doc=item", "one is a number"), ("doc=9", "column number 9")):
            prefix = "run" if side == "run" else "judgments"
            words = [each for each in own if not each.startswith(f"{prefix}.doc")]
            done = cli(*command, *named(*words, f"{prefix}.{wrong}"))
            assert done.returncode == 2, name
            assert said in done.stderr, (name, done.stderr)
            assert done.stdout == "", name
    done = cli("evaluate", tmp_path / "out.qrels", tmp_path / "out.run", "-m", "nDCG", "-f", "csv")
    assert float(done.stdout.splitlines()[1].split(",")[1]) == pytest.approx(VALUE, abs=1e-15)


def test_four_columns_are_no_judgments_of_trec(paths, cli):
    """Before, the names were ignored, and times taken for grades."""
    judgments, run = paths
    call = ["evaluate", judgments, run, "-m", "CG", "-f", "csv"]
    done = cli(*call, *named(*NAMES, *PLACES))
    assert done.stdout.splitlines()[1].split(",")[1] == "6.0"
    both = ("query=1", "doc=2", "grade=3", "rank=3")
    assert cli(*call, *named(*both)).stdout == done.stdout
    done = cli(*call, *named("query=user", "doc=item", "grade=rating", *PLACES))
    assert (done.returncode, done.stdout) == (2, "")
    assert "the column 'user' for query" in done.stderr
    assert "by their numbers from 1 if the file has no header" in done.stderr


def test_standard_input(paths, cli):
    judgments, _ = paths
    call = ("evaluate", judgments, "-", "-m", "nDCG", "-f", "csv", *named(*NAMES, *PLACES))
    done = cli(*call, stdin=PLACED)
    assert float(done.stdout.splitlines()[1].split(",")[1]) == pytest.approx(VALUE, abs=1e-15)


def test_subtopics(cli, tmp_path):
    judged, run = tmp_path / "judged.csv", tmp_path / "run.csv"
    judged.write_text("who,aspect,what,much\n7,s1,1,1\n7,s2,2,1\n")
    run.write_text("user,thing,place\n7,2,1\n7,1,2\n")
    own = ["judgments.query=who", "judgments.doc=what", "grade=much", "subtopic=aspect"]
    other = ["run.query=user", "run.doc=thing", "rank=place"]
    call = ["evaluate", "--subtopics", judged, run, "-m", "strec@1", "-f", "csv"]
    done = cli(*call, *named(*own, *other))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].endswith("0.5")
    for wrong in ("subtopic=intents", "run.query=users", "rank=places", "grade=muchs"):
        words = [
            each for each in (*own, *other) if each.partition("=")[0] != wrong.partition("=")[0]
        ]
        done = cli(*call, *named(*words, wrong))
        assert (done.returncode, done.stdout) == (2, "")
        assert f"the column '{wrong.partition('=')[2]}'" in done.stderr


def test_a_role_twice_and_both_roles_of_a_run(paths, cli):
    call = ["evaluate", *paths]
    done = cli(*call, *named("query=1", "query=2"))
    assert done.returncode == 2
    assert "--columns names query twice: 1 and 2" in done.stderr
    done = cli(*call, *named(*NAMES, *PLACES, "score=3"))
    assert done.returncode == 2
    assert "a score or a rank" in done.stderr


def test_several_pairs_in_one_option(paths, cli):
    call = ["evaluate", *paths, "-f", "json"]
    done = cli(*call, *named(",".join(NAMES), ", ".join(PLACES)))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == cli(*call, *named(*NAMES, *PLACES)).stdout


def test_a_rank_that_is_named_as_a_score(paths, cli, tmp_path):
    run = tmp_path / "ranked.tsv"
    run.write_text("7\t3\t1\n7\t1\t2\n7\t2\t3\n")
    call = ["evaluate", paths[0], run, *named(*NAMES, "run.query=1", "run.doc=2")]
    done = cli(*call, *named("score=3"))
    assert done.returncode == 0
    assert done.stderr.count("look like ranks") == 1
    assert "columns rank=…" in done.stderr
    assert "look like ranks" not in cli(*call, *named("rank=3")).stderr
    done = cli("why", paths[0], run, "--dialects", "trec_eval", *call[3:], *named("score=3"))
    assert done.stderr.count("look like ranks") == 1
    done = cli("report", paths[0], run, "-o", tmp_path / "p.html", *call[3:], *named("score=3"))
    assert done.stderr.count("look like ranks") == 1
