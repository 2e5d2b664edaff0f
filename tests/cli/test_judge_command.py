"""`gainful judge`, as far as it goes without a browser."""

import json
import os
import queue
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import gainful as gf
from desk_server import Client, Command, hostile_acts, study
from gainful.cli.judging import _judging_scale as _scale
from gainful.judging.desk import desk_server


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.run").write_text("q Q0 d1 1 2 a\nq Q0 d2 2 1 a\n")
    (tmp_path / "b.run").write_text("q Q0 d2 1 2 b\nq Q0 d3 2 1 b\n")
    (tmp_path / "queries.tsv").write_text("query\ttext\nq\tbread\n")
    (tmp_path / "docs.tsv").write_text("doc\ttext\nd1\tone\nd2\ttwo\nd3\tthree\n")
    return tmp_path


TEXTS = ("--queries", "queries.tsv", "--docs", "docs.tsv")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (["--offline"], "--offline requires --output."),
        (["-o", "x.html"], "--output requires --offline."),
        (["--offline", "-o", "x.html"], "requires the name of its assessor"),
        (
            ["--offline", "-o", "x.html", "--invite", "a", "--merge", "f"],
            "--offline cannot be combined with --merge",
        ),
        (["--budget", "3"], "--budget requires --offline."),
        (["--offline", "-o", "x.html", "--invite", "a", "--budget", "0"], "1<=x<=5000"),
        (["--offline", "-o", "x.html", "--invite", "a", "--budget", "5001"], "1<=x<=5000"),
        (["a.run"], "Missing option '--queries'"),
        (["a.run", "--queries", "queries.tsv"], "Missing option '--docs'"),
        (["--depth", "3"], "--depth requires RUNs: an existing study keeps its own settings."),
        (["--scale", "0..1", "--queries", "queries.tsv"], "requires RUNs"),
        (["--overlap-share", "0", "--tag", "x"], "--overlap-share requires RUNs"),
        (["--hide-ranks"], "requires RUNs"),
        (["a.run", *TEXTS, "--overlap-share", "1.5"], "0<=x<=1"),
        (["a.run", *TEXTS, "--order", "verdict"], "two runs, for the order by their verdict"),
        (["a.run", "b.run", *TEXTS, "--compare", "a", "c"], "the names of two runs of the study"),
        (["a.run", "b.run", *TEXTS, "--tag", " "], "tags: expected words"),
        (["a.run", *TEXTS, "--scale", "0=no,0=yes"], "each grade once, not '0=no,0=yes'."),
        (["a.run", *TEXTS, "--scale", "yes"], "scale: expected"),
        (["--host", "192.0.2.1"], "a secret, because other machines reach this address"),
        (["--secret", "short"], "at least 12 characters"),
        (["--behind-proxy", "127.0.0.1"], "behind_proxy: expected a secret"),
        (["--behind-proxy", "proxy", "--secret", "x" * 12], "the address of the server in front"),
        (["--host", "nohost.invalid", "--secret", "x" * 12], "host: expected an address or a name"),
        (["--host", "192.0.2.1", "--secret", "x" * 12], "host: expected an address or a name"),
        (["--db", "none.db"], "none.db"),
        (["--db", "none.db"], "on the command line gainful judge RUN… --queries FILE --docs FILE"),
        (["a.run", *TEXTS, "--guideline", "none.txt"], "none.txt"),
        (["none.run", *TEXTS], "none.run"),
        (["--clicks", "log.csv"], "--clicks requires RUNs"),
        (["a.run", *TEXTS, "--clicks", "none.csv"], "none.csv"),
        (["a.run", *TEXTS, "--clicks", "docs.tsv"], "docs.tsv"),
        (["a.run", *TEXTS, "--columns", "clicks.doc=sku"], "--columns clicks.doc needs --clicks."),
        (["a.run", *TEXTS, "--columns", "doc=sku"], "name the columns of --clicks as clicks.doc"),
        (["--port", "99999"], "99999"),
        (["--invite", " lead "], "--invite lead: the lead already has a link"),
    ],
)
def test_wrong_calls(folder, cli, call, told):
    free = [] if "--port" in call else ["--port", "0"]  # the usual one may be taken
    done = cli("judge", *call, *free)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not [*folder.glob("*.db*")]


def test_scales():
    assert _scale("0..4") == "0..4"
    assert _scale("0=no, 2.5 = yes = surely") == {0.0: "no", 2.5: "yes = surely"}


def test_a_port_that_is_taken(folder, cli):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = cli("judge", "a.run", *TEXTS, "--port", str(port), "--no-open")
        assert not (folder / "study.db").exists()
        with study("study.db", queries=1, docs=2) as made:
            before = made.settings
        again = cli("judge", *["--guideline", "queries.tsv", "--port", str(port)])
    assert done.returncode == again.returncode == 2
    assert "a free port at 127.0.0.1" in done.stderr
    with gf.judging.Study("study.db") as made:  # what was not served was not changed
        assert (made.settings, made.guideline.version) == (before, 0)


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_a_missing_package(folder, cli, monkeypatch, package):
    for name in list(sys.modules):
        if name.partition(".")[0] == package:
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.applications", None)
    done = cli("judge", "a.run", *TEXTS, "--no-open")
    assert done.returncode == 2
    assert "pip install '.[judge]'" in done.stderr


BROWSER = """#!/bin/sh
printf '%s\\n' "$@" > arguments
page="${1#file://}"
ls -l "$page" > mode
cat "$page" > page
"""


def test_the_link_of_the_lead_is_in_the_arguments_of_no_program(folder):
    study("study.db", queries=1, docs=2).close()
    (folder / "browser").write_text(BROWSER)
    (folder / "browser").chmod(0o755)
    (folder / "temporary").mkdir()
    told, terminal = os.openpty()
    environment = {
        **os.environ,
        "BROWSER": f"{folder}/browser %s",
        "TMPDIR": str(folder / "temporary"),
    }
    call = [sys.executable, "-m", "gainful", "judge", "--port", "0"]
    running = subprocess.Popen(call, stdout=terminal, stderr=subprocess.PIPE, env=environment)
    os.close(terminal)
    try:
        link = os.read(told, 10_000).decode().split()[1]
        until = time.monotonic() + 20
        while not (folder / "page").exists() or "</html>" not in (folder / "page").read_text():
            assert time.monotonic() < until
            time.sleep(0.02)
        shown = (folder / "arguments").read_text()
        assert shown.startswith("file://")
        assert link.rpartition("/")[2] not in shown
        assert f'content="0;url={link}"' in (folder / "page").read_text()
        assert (folder / "mode").read_text().startswith("-rw-------")
        assert (
            stat.S_IMODE(Path(shown.strip().removeprefix("file://")).parent.stat().st_mode) == 0o700
        )
    finally:
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=20)[1].decode()
        os.close(told)
    assert running.returncode == 0, said
    assert [*(folder / "temporary").iterdir()] == []  # nothing of it is left


def test_the_page_with_the_link_is_removed_when_the_browser_has_had_its_time(monkeypatch, tmp_path):
    opened = queue.Queue()
    monkeypatch.setattr(webbrowser, "open", opened.put)
    monkeypatch.setattr(desk_server, "_OPENING", 0.05)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    desk_server.open_in_browser('http://127.0.0.1:1/i/"&<secret')
    page = Path(opened.get(timeout=20).removeprefix("file://"))
    assert "secret" not in str(page)
    until = time.monotonic() + 20
    while page.parent.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    desk_server.open_in_browser(
        "http://127.0.0.1:1/i/secret"
    )  # no room for the page: the link is printed anyway
    assert opened.empty()


def test_it_goes_on_where_it_was_left(folder):
    (folder / "how.txt").write_text("Judge the text.\n")
    first = Command(
        folder,
        "a.run",
        *TEXTS,
        "--invite",
        "ann",
        "--scale",
        "0=no,1=yes",
        "--guideline",
        "how.txt",
    )
    links = first.start(2)
    assert [*links] == ["lead", "ann"]
    ann, lead = (Client(link) for link in (links["ann"], links["lead"]))
    assert ann.get(urlsplit(links["ann"]).path).status == 200
    assert lead.get(urlsplit(links["lead"]).path).status == 200
    me = ann.get("/api/me").json
    assert [(grade["value"], grade["word"]) for grade in me["scale"]] == [(0, "no"), (1, "yes")]
    assert me["guideline"] == {"version": 1, "text": "Judge the text."}
    item = ann.post("/api/next", {"count": 1}).json["tasks"][0]["item"]
    act = {"key": "k", "item": item, "kind": "grade", "grade": 1}
    assert ann.act(act)["confirmed"]
    code, said = first.end(signal.SIGINT)
    assert code == 0
    assert said.startswith("study.db: 0 of 2 documents judged\n")
    assert links["ann"] not in said  # nor in any log
    # Another run brings a document; ann's link and cookie still hold, the lead has a new one.
    again = Command(folder, "a.run", "b.run", *TEXTS, port=first.port)
    new = again.start(1)
    assert new["lead"] != links["lead"]
    assert lead.get("/api/me").status == 401
    assert ann.act(act)["confirmed"][0]["item"] == item
    me = ann.get("/api/me").json
    assert (me["done"], me["left"]) == (1, 2)
    code, said = again.end(signal.SIGTERM)
    assert said.startswith("study.db: 1 of 3 documents judged\n")
    with gf.judging.Study("study.db") as found:
        assert [event.kind for event in found.record()] == ["grade"]
        assert found.guideline.version == 1


def test_what_is_set_up_on_the_command_line(folder, cli):
    call = ["judge", "a.run", "b.run", *TEXTS, "--offline", "-o", "x.html", "--invite", "ann"]
    given = [
        "--order", "verdict", "--compare", "b", "a", "--overlap", "2", "--overlap-share", "0.3", "--show-ranks",
        "--tag", "too vague", "--tag", "ads",
    ]  # fmt: skip
    for more in (given, []):  # what is not given stays
        assert cli(*call, *more).stderr == "x.html: 3 documents for ann\n"
        with gf.judging.Study("study.db") as made:
            told = made.settings
            assert (told["order"], told["compare"], told["tags"]) == (
                "verdict",
                ("b", "a"),
                ("too vague", "ads"),
            )
            assert (told["overlap"], told["overlap_share"], told["show_ranks"]) == (2, 0.3, True)
            assert made.progress().shared == 1
    assert cli(*call, "--hide-ranks").returncode == 0
    with gf.judging.Study("study.db") as made:
        assert made.settings["show_ranks"] is False


def test_files_that_are_no_grades(folder, cli):
    with study("study.db", queries=1, docs=2) as made:
        made.invite("ann")
        proof = made._page_for("ann")
        right = {
            "format": "gainful desk 1",
            "study": made._id(),
            "assessor": "ann",
            "proof": proof,
            "acts": [],
        }
    for text in (
        "",
        "[]",
        "{}",
        "[" * 100_000,
        json.dumps({**right, "acts": 3}),
        json.dumps({**right, "assessor": "eve"}),
    ):
        (folder / "grades.json").write_text(text)
        done = cli("judge", "--merge", "grades.json")
        assert done.returncode == 2, text
        assert done.stderr.startswith("gainful: error: grades.json: expected")
    bad = [
        {"key": "1", "kind": "grade", "item": 1, "grade": 9},
        3,
        {"key": "2", "kind": "grade", "item": 1, "grade": 2},
    ]
    (folder / "grades.json").write_text(json.dumps({**right, "acts": bad}))
    done = cli("judge", "--merge", "grades.json")
    assert done.returncode == 0
    assert "grades.json: 1 action by ann imported" in done.stderr
    assert done.stderr.count("was not imported") == 2


def test_hostile_acts_are_refused_with_their_lines_and_the_others_read(folder, cli):
    with study("study.db", queries=1, docs=3) as made:
        made.invite("ann")
        proof, name = made._page_for("ann"), made._id()
    acts = hostile_acts(1)
    right = json.dumps({"key": "last", "item": 2, "kind": "grade", "grade": 3})
    for between in (",\n", ", "):
        head = f'{{"study": "{name}", "assessor": "ann", "proof": "{proof}", "format": "gainful desk 1",\n"acts": [\n'
        (folder / "grades.json").write_text(head + between.join([*acts, right]) + "]}")
        done = cli("judge", "--merge", "grades.json")
        assert done.returncode == 0, done.stderr
        said = done.stderr.splitlines()
        taken = int(said[0].split()[1])
        assert taken + len(said) - 1 == len(acts) + 1
        for number, line in enumerate(range(3, 3 + len(acts)), 1):
            of = [each for each in said if f": action {number} was not imported: " in each]
            place = line if between == ",\n" else 3
            assert [each.startswith(f"grades.json:{place}: ") for each in of] == [True] * len(of)
            if acts[number - 1].startswith(('{"key": "grade', '{"key": "item')):
                assert len(of) == 1
        with gf.judging.Study("study.db") as made:
            assert made.grades()["q0"]["q0-d1"] == {"ann": 3.0}


def test_a_file_shows_whose_grades_it_has(folder, cli):
    with study("study.db", queries=1, docs=4) as made:
        tokens = {name: made.invite(name) for name in ("ann", "bob")}
        proofs = {name: made._page_for(name) for name in ("ann", "bob")}
        act = {"key": "1", "item": 1, "kind": "grade", "grade": 3}
        saved = {"format": "gainful desk 1", "study": made._id(), "assessor": "ann", "acts": [act]}
    forged = [
        {},
        *({"proof": proof} for proof in (None, 3, "", "x" * 43, "\ud800", [proofs["ann"]], proofs["bob"], *tokens.values())),
    ]  # fmt: skip
    for more in forged:
        (folder / "grades.json").write_text(json.dumps({**saved, **more}))
        done = cli("judge", "--merge", "grades.json")
        assert done.returncode == 2
        assert "the proof that it comes from the page of ann" in done.stderr
        assert "--as ann" in done.stderr
        refused = cli("judge", "--merge", "grades.json", "--as", "bob")
        assert "expected grades of bob, found grades of ann" in refused.stderr
    with gf.judging.Study("study.db") as made:
        assert [*made.record()] == []
    assert "requires --merge" in cli("judge", "--as", "ann").stderr
    assert cli("judge", "--merge", "grades.json", "--as", "ann").returncode == 0  # the lead vouches
    (folder / "mine.json").write_text(json.dumps({**saved, "proof": proofs["ann"]}))
    assert cli("judge", "--merge", "mine.json").stderr == "mine.json: 1 action by ann imported\n"


def test_an_offline_page_has_as_many_documents_as_are_asked_for(folder, cli):
    with study(folder / "study.db", queries=2, docs=130, depth=130) as made:
        made.practice({"q0": {"q0-d0": 1}})
    call = ["judge", "--offline", "-o", "ann.html", "--invite", "ann"]
    done = cli(*call, "--budget", "3")
    assert done.stderr == "ann.html: 3 documents for ann; 258 more remain, see --budget\n"
    assert cli(*call).stderr == "ann.html: 200 documents for ann; 61 more remain, see --budget\n"
    assert cli(*call, "--budget", "1000").stderr == "ann.html: 261 documents for ann\n"
    page = (folder / "ann.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    tasks = data["tasks"]
    assert len({task["item"] for task in tasks}) == 261
    assert data["me"]["guideline"]["version"] == 0
    acts = [
        {"key": f"{task['item']}", "item": task["item"], "kind": "grade", "grade": task["item"] % 4, "guideline": 0}
        for task in tasks
    ]  # fmt: skip
    acts[0]["guideline"] = 2  # a version that was never there
    with gf.judging.Study(folder / "study.db") as made:
        made.set(guideline="Since the page was written.")
    saved = {
        "format": data["format"],
        "study": data["me"]["study"],
        "assessor": "ann",
        "proof": data["proof"],
    }
    (folder / "grades.json").write_text(json.dumps({**saved, "acts": acts}))
    told = cli("judge", "--merge", "grades.json").stderr
    assert told.startswith(
        "grades.json: 260 actions by ann imported\ngrades.json:1: action 1 was not imported: Expected"
    )
    del acts[0]["guideline"]
    (folder / "grades.json").write_text(json.dumps({**saved, "acts": acts}))
    for _ in range(2):
        assert (
            cli("judge", "--merge", "grades.json").stderr
            == "grades.json: 261 actions by ann imported\n"
        )
    with gf.judging.Study(folder / "study.db") as judged:
        versions = [event.guideline for event in judged.record()]
        assert versions == [0] * 260 + [1]  # what the page showed, not what held when it was read
        assert judged.progress().done == 260


def test_clicks_decide_what_is_judged_next(folder, cli):
    rows = [
        f"{s},{s},q,{doc},{rank},{int(s % 4 == 0)}"
        for s in range(200)
        for rank, doc in enumerate(("d1",))
    ]
    (folder / "log.csv").write_text(
        "session,list,query,sku,position,clicked\n" + "\n".join(rows) + "\n"
    )
    (folder / "c.run").write_text("q Q0 d1 1 3 c\nq Q0 d2 2 2 c\nq Q0 d3 3 1 c\n")
    (folder / "judged.qrels").write_text("q 0 d3 1\n")
    (folder / "gainful.toml").write_text('columns.query = "question"\n')  # of other inputs
    call = [
        "c.run",
        *TEXTS,
        "--judgments",
        "judged.qrels",
        "--offline",
        "--invite",
        "ann",
        "--budget",
        "1",
    ]
    clicks = ["--clicks", "log.csv", "--columns", "clicks.doc=sku"]
    first = {}
    for more in ([], clicks):
        done = cli("judge", *call, *more, "-o", "ann.html", "--db", f"{len(more)}.db")
        assert done.returncode == 0, done.stderr
        with gf.judging.Study(f"{len(more)}.db") as made, made._store.reading() as rows:
            first[len(more)] = rows.one("SELECT doc FROM item ORDER BY place")[0]
    assert first == {0: "d1", 4: "d2"}
