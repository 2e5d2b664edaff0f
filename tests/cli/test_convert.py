"""`gainful convert` as a user calls it."""

import subprocess
import sys

import pytest

from gainful.output.writing.output_files import DOCUMENTS
from read_back import read_back

RUN = "q1 Q0 a 1 0.9 t\nq1 Q0 u 2 0.8 t\nq2 Q0 x 1 2 t\n"
FOUND = {"q1": {"a": 0.9, "u": 0.8}, "q2": {"x": 2.0}}


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "system.run"
    path.write_text(RUN)
    return path


def test_there_and_back(cli, run, tmp_path):
    before = run
    for end in ("parquet", "csv.gz", "jsonl.zst", "tsv", "trec"):
        after = tmp_path / f"system.{end}"
        done = cli("convert", before, after, "--as", "run")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert read_back(after, "run") == FOUND
        before = after
    assert before.read_text().splitlines()[-1] == "q2 Q0 x 1 2.0 gainful"


def test_judgments_columns_format_and_tag(cli, run, tmp_path):
    (tmp_path / "clicks.csv").write_text("session,sku,bought\ns1,007,1\ns1,7,0\n")
    named = [f"--columns={role}" for role in ("query=session", "doc=sku", "grade=bought")]
    target = tmp_path / "clicks"
    done = cli("convert", tmp_path / "clicks.csv", target, "--as=judgments", "-f", "trec", *named)
    assert done.returncode == 0, done.stderr
    assert target.read_text() == "s1 0 007 1\ns1 0 7 0\n"
    assert cli("convert", run, target, "--as=run", "--format=trec", "--tag=new").returncode == 0
    assert target.read_text().splitlines()[0] == "q1 Q0 a 1 0.9 new"


def test_standard_input_and_output(cli, run):
    done = cli("convert", "-", "-", "--as", "run", "--format", "csv", stdin=RUN)
    assert done.stdout == "query,doc,score\nq1,a,0.9\nq1,u,0.8\nq2,x,2.0\n"
    program = f"{sys.executable} -m gainful convert {run} - --as run --format csv"
    shell = f"{program} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_the_input_is_never_overwritten(cli, run, tmp_path):
    (tmp_path / "link.run").symlink_to(run)
    for output in (run, tmp_path / "link.run"):
        done = cli("convert", run, output, "--as", "run")
        assert done.returncode == 2
        assert "is one of the inputs" in done.stderr
    assert run.read_text() == RUN


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x.csv"], "Missing option '--as'"),
        (["x.csv", "--as", "scores"], "Choices: run, judgments"),
        (["x.cvs", "--as", "run"], "Did you mean '.csv'?"),
        (["x", "--as", "run", "--format", "parket"], "Did you mean 'parquet'?"),
        (["x.qrels", "--as", "judgments"], "This looks like a run"),
        (["x.run", "--as", "run", "--tag", "two words"], "tag: expected a word"),
        (["x.csv", "--as", "judgments", "--tag", "t"], "--tag requires --as run"),
        (["no such folder/x.csv", "--as", "run"], "expected a file that can be written"),
    ],
)
def test_refusals(cli, run, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    done = cli("convert", run, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [run]


def test_the_help_names_every_format_and_ending(cli):
    told = " ".join(cli("convert", "--help").stdout.split())
    for word in (*DOCUMENTS, *DOCUMENTS.values()):
        assert word in told
