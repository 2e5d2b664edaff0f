"""`gainful` alone, and runs that are named on the command line."""

import json

import gainful as gf
from gainful.cli.commands import commands

QRELS = "q1 0 a 1\nq2 0 b 2\n"
RUN = "q1 Q0 a 1 2 t\nq2 Q0 b 1 1 t\n"


def test_gainful_alone_shows_how_to_start(cli):
    done = cli()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert listed == commands.list_commands(None)
    groups = [line for line in lines if line.endswith(":") and " " not in line.split(":")[0][:5]]
    assert groups[:3] == ["Start:", "Decide:", "Judge:"]
    assert all(f"gainful {name}" in done.stdout for name in ("demo", "evaluate", "--help"))
    assert max(map(len, lines)) <= 80


def test_a_run_is_named_on_the_command_line(cli, files):
    judgments, one, two = files("j.qrels", QRELS), files("one.run", RUN), files("two.run", RUN)
    done = cli("evaluate", judgments, f"bm25={one}", two, "-f", "json")
    assert [run["run"] for run in json.loads(done.stdout)["runs"]] == ["bm25", "two"]
    found = cli("compare", judgments, f"bm25={one}", f"dense={two}", "-f", "json")
    assert json.loads(found.stdout)["baseline"] == "bm25"
    same = cli("evaluate", judgments, f"two={one}", two)
    assert same.returncode == 2
    assert "Two runs are named two" in same.stderr


def test_a_file_with_an_equals_sign_keeps_its_name(cli, files):
    judgments, odd = files("j.qrels", QRELS), files("k=10.run", RUN)
    done = cli("evaluate", judgments, odd, "-f", "json")
    assert [run["run"] for run in json.loads(done.stdout)["runs"]] == [*gf.inputs.find_runs([odd])]
