"""What a project's file may do before somebody trusts it: whose it may be, where it may lie, and what it runs."""

import json
import os
import sys
from pathlib import Path

import click
import pytest

from gainful.cli import project as project_files
from gainful.cli.commands import commands
from gainful.cli.option_table import ACTING
from gainful.cli.project import all_settings
from search_server import plain, serving

QRELS = "".join(f"q{i} 0 a 3\nq{i} 0 b 1\n" for i in range(12))
RUN = "".join(f"q{i} Q0 a 1 2 t\nq{i} Q0 b 2 {1 + i % 2 / 2} t\n" for i in range(12))
SECRET = "planted-4711"  # noqa: S105 - that nothing may send
PWNED = """
from pathlib import Path
Path("pwned").write_text("")
import gainful as gf
hit = gf.measures.define("hit", gain={1: 1})
def search(text):
    return ["a"]
def embed(text):
    return [1.0]
"""


@pytest.fixture
def project(tmp_path, monkeypatch, _no_own_names):
    """A project, with a module that leaves a file behind when it is imported; and a folder for the user's state."""
    folder = tmp_path / "project"
    folder.mkdir()
    sys.modules.pop("pwn", None)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("GAINFUL_TRUST", raising=False)
    monkeypatch.setenv("CLOUD_SECRET", SECRET)
    for name, text in {"j.qrels": QRELS, "a.run": RUN, "b.run": RUN, "pwn.py": PWNED}.items():
        (folder / name).write_text(text)
    (folder / "queries.tsv").write_text("q1\tbread\n")
    (folder / "t.json").write_text('{"query": "{query}", "vector": "{vector}"}')
    return folder


def is_pwned(folder):
    """Return whether the module was imported; it may be so again."""
    sys.modules.pop("pwn", None)
    done = (folder / "pwned").exists()
    (folder / "pwned").unlink(missing_ok=True)
    return done


def commands_with(option):
    """Return the names of the commands that take an option from a project's file."""
    context = click.Context(commands)
    every = {name: commands.get_command(context, name) for name in commands.list_commands(context)}
    return sorted(
        name for name, one in every.items() if option in {str(each.name) for each in one.params}
    )


# Calls of every command that takes definitions, and what comes before them.
DEFINING = {
    "agreement": ["agreement", "j.qrels", "--run", "a.run", "--run", "b.run"],
    "calibrate": ["calibrate", "--human", "j.qrels", "--model", "j.qrels", "a.run"],
    "compare": ["compare", "j.qrels", "a.run", "b.run"],
    "evaluate": ["evaluate", "j.qrels", "a.run"],
    "explain": ["explain", "j.qrels", "a.run", "-q", "q1"],
    "fuse": ["fuse", "a.run", "b.run", "--judgments", "j.qrels"],
    "history": ["history", "add", "s.history", "j.qrels", "a.run"],
    "leaderboard": ["leaderboard", "j.qrels", "a.run", "b.run"],
    "measures": ["measures", "hit"],
    "pool": ["pool", "a.run", "b.run"],
    "similar": ["similar", "a.run", "b.run"],
    "power": ["power", "j.qrels", "a.run", "b.run", "--difference", "0.1"],
    "report": ["report", "j.qrels", "a.run", "b.run", "-o", "page.html"],
    "watch": ["watch", "j.qrels", "a.run", "--store", "w.history"],
    "why": ["why", "j.qrels", "a.run", "--dialects", "scikit-learn"],
}
# Tables [run] that do something, each of which a call of `gainful run` would do.
RUNNING = {
    "call": 'call = "pwn:search"',
    "command": f"command = \"{sys.executable} -c 'import pwn'\"",
    "url": 'url = "{address}/?q={{query}}"\nids = "hits[*].id"',
    "url with a secret": 'url = "{address}/?q={{query}}&k=${{CLOUD_SECRET}}"\nids = "hits[*].id"',
    "headers": 'url = "{address}/?q={{query}}"\nids = "hits[*].id"\nheaders = ["X: ${{CLOUD_SECRET}}"]',
    "key_variable": 'url = "{address}/?q={{query}}"\nids = "hits[*].id"\nkey_variable = "CLOUD_SECRET"',
    "embed": 'url = "{address}/"\nids = "hits[*].id"\nembed = "pwn:embed"\ntemplate = "t.json"',
}
# Parts of such a table, where what is missing is typed.
TYPED = {
    "headers": ('headers = ["X: ${{CLOUD_SECRET}}"]', ["--url", "{address}/?q={{query}}"]),
    "key_variable": ('key_variable = "CLOUD_SECRET"', ["--url", "{address}/?q={{query}}"]),
    "url": ('url = "{address}/?q={{query}}"', ["--key-variable", "CLOUD_SECRET"]),
    "embed": ('embed = "pwn:embed"', ["--url", "{address}/", "--template", "t.json"]),
    "template": ('template = "t.json"', ["--url", "{address}/", "--embed", "pwn:embed"]),
}


def test_every_command_and_every_setting_is_among_these():
    assert commands_with("define") == sorted(DEFINING)
    settings = all_settings()
    acting = settings.keys() & ACTING
    # What is no code, no service and no key: who adds a setting says on which side it is.
    harmless = {key for key in settings if key.startswith("run.")} - acting
    assert harmless == {
        f"run.{name}"
        for name in (
            "engine", "ids", "scores", "method", "depth", "concurrency", "per_second", "timeout", "retries", "failed",
            "tag",
        )
    }  # fmt: skip


@pytest.mark.parametrize("command", DEFINING)
def test_definitions_are_imported_only_when_they_are_trusted(project, cli, command):
    (project / "gainful.toml").write_text('define = ["pwn:hit"]\n')
    for words in (["config"], [command, "--help"], ["help", command]):
        assert cli(*words).returncode == 0
        assert not is_pwned(project), words
    for options in ([], ["--config", "gainful.toml"]):
        done = cli(*options, *DEFINING[command])
        assert (done.returncode, done.stdout) == (2, "")
        assert not is_pwned(project)
        assert (
            "it sets define = ['pwn:hit']. Read it, then trust its content: `gainful "
            in done.stderr
        )
        assert " ".join(["gainful", *options, "config", "--trust`"]) in done.stderr
    cli("--trust", *DEFINING[command])
    assert is_pwned(project)
    assert cli("--no-config", *DEFINING[command]).stderr.count("trust") == 0


def asked_of(project, cli, settings, *words, typed=()):
    """Run a project's service; return what is said, and the requests that came to a server."""
    with serving(lambda *_: plain([("a", 1)])) as server:
        (project / "gainful.toml").write_text(f"[run]\n{settings.format(address=server.url)}\n")
        typed = [word.format(address=server.url) for word in typed]
        for shown in (["config"], ["run", "--help"], ["help", "run"]):
            assert cli(*shown).returncode == 0
        assert not is_pwned(project)
        done = cli(*words, "run", "queries.tsv", *typed, "--retries", "0", "-o", "x.run")
        return done, server.requests


@pytest.mark.parametrize("name", RUNNING)
def test_services_are_called_only_when_they_are_trusted(project, cli, name):
    done, requests = asked_of(project, cli, RUNNING[name])
    assert done.returncode == 2
    assert (
        "expected a file that you trust to run code and to call services, found one" in done.stderr
    )
    assert not requests
    assert not is_pwned(project)
    done, requests = asked_of(project, cli, RUNNING[name], "--trust")
    assert "that you trust" not in done.stderr
    assert requests or is_pwned(project)


@pytest.mark.parametrize("name", TYPED)
def test_a_part_of_a_service_is_taken_only_when_it_is_trusted(project, cli, name):
    settings, typed = TYPED[name]
    done, requests = asked_of(project, cli, settings, typed=[*typed, "--ids", "hits[*].id"])
    assert done.returncode == 2
    assert f"it sets run.{name}" in done.stderr
    assert not requests
    _, requests = asked_of(project, cli, settings, "--trust", typed=[*typed, "--ids", "hits[*].id"])
    assert requests


def test_a_service_that_is_typed_needs_no_trust(project, cli):
    (project / "gainful.toml").write_text('[run]\ncall = "pwn:search"\ndepth = 5\n')
    done = cli("run", "queries.tsv", "--command", "echo a", "-o", "x.run")
    assert done.returncode == 0, done.stderr
    assert not is_pwned(project)


@pytest.mark.parametrize(
    "address",
    ["sql:SELECT 'q1' AS query, 'a' AS doc, 1 AS grade", "postgresql://localhost:1/db::qrels"],
)
def test_addresses_that_run_a_query_need_trust(project, cli, address):
    (project / "gainful.toml").write_text(f'judgments = "{address}"\n')
    done = cli("evaluate", "a.run")
    assert done.returncode == 2
    assert "that you trust" in done.stderr
    assert "that you trust" not in cli("--trust", "evaluate", "a.run").stderr


def test_settings_that_do_nothing_need_no_trust(project, cli):
    (project / "gainful.toml").write_text('judgments = "j.qrels"\nmeasures = "AP"\n')
    assert cli("evaluate", "a.run").returncode == 0
    assert cli("config").stderr == ""


def test_a_module_that_is_typed_is_not_looked_for_beside_a_file_that_nobody_trusts(
    project, cli, monkeypatch
):
    (project / "gainful.toml").write_text('measures = "AP"\n')
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    done = cli("explain", "3,2,1", "--define", "pwn:hit")
    assert "a module that can be imported" in done.stderr
    assert cli("--trust", "explain", "3,2,1", "--define", "pwn:hit").returncode == 0


def test_trust_is_of_one_content_in_one_place(project, cli, tmp_path, monkeypatch):
    file = project / "gainful.toml"
    file.write_text('define = ["pwn:hit"]\n')
    done = cli("config")
    assert "not trusted, so commands refuse to use define = ['pwn:hit']" in done.stderr
    done = cli("config", "--trust")
    assert done.returncode == 0
    assert not is_pwned(project)
    assert "trusted as it is now: gainful.toml, with define = ['pwn:hit']" in done.stderr
    assert "trust" not in cli("config").stderr
    store = tmp_path / "state" / "gainful" / "trusted_project_files"
    assert str(project / "gainful.toml") in store.read_text()
    # From now on, from everywhere, and under each name of the file.
    (project / "below").mkdir()
    for folder, words in ((".", []), ("below", []), ("/", ["--config", str(file)])):
        monkeypatch.chdir(project / folder)
        assert cli(*words, "evaluate", project / "j.qrels", project / "a.run").returncode == 0
        assert is_pwned(Path.cwd()), folder
    monkeypatch.chdir(project)
    # Another content is not trusted.
    file.write_text(file.read_text() + "# no more than a comment\n")
    done = cli("evaluate", "j.qrels", "a.run")
    assert done.returncode == 2
    assert "found one that has changed since you trusted it: it sets define" in done.stderr
    assert cli("config", "--trust").returncode == 0
    assert cli("evaluate", "j.qrels", "a.run").returncode == 0
    assert len(store.read_text().splitlines()) == 2
    # Nor is the same content elsewhere, where the names are of other modules.
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    (other / "gainful.toml").write_text(file.read_text())
    assert "found one that you have not" in cli("evaluate", project / "j.qrels", "a.run").stderr
    (other / "gainful.toml").unlink()
    (other / "gainful.toml").symlink_to(file)
    assert "found one that you have not" in cli("evaluate", project / "j.qrels", "a.run").stderr


def test_a_pyproject_needs_trust_too(project, cli):
    (project / "pyproject.toml").write_text('[tool.gainful]\ndefine = ["pwn:hit"]\n')
    assert "pyproject.toml [tool.gainful]: expected a file that you trust" in (
        cli("evaluate", "j.qrels", "a.run").stderr
    )
    assert not is_pwned(project)
    cli("config", "--trust")
    assert cli("evaluate", "j.qrels", "a.run").returncode == 0


@pytest.mark.parametrize(("value", "trusted"), [("1", True), ("0", False), ("", False)])
def test_the_environment_may_trust(project, cli, monkeypatch, value, trusted):
    (project / "gainful.toml").write_text('define = ["pwn:hit"]\n')
    monkeypatch.setenv("GAINFUL_TRUST", value)
    assert cli("evaluate", "j.qrels", "a.run").returncode == (0 if trusted else 2)
    assert is_pwned(project) == trusted


def test_what_cannot_be_trusted_is_told(project, cli, tmp_path):
    assert "found no project file to trust" in cli("config", "--trust").stderr
    (project / "gainful.toml").write_text('measures = "AP"\n')
    (tmp_path / "state").write_text("a file")
    assert "expected a folder to write to" in cli("config", "--trust").stderr
    assert (
        "--trust belongs before the command"
        in cli("evaluate", "j.qrels", "a.run", "--trust").stderr
    )


def test_what_may_be_a_key_is_not_shown(project, cli):
    (project / "gainful.toml").write_text(
        f'[run]\nkey_variable = "{SECRET}"\nheaders = ["X: {SECRET}"]\n'
    )
    done = cli("run", "queries.tsv", "--url", "http://127.0.0.1:9/{query}")
    assert done.returncode == 2
    assert SECRET not in done.stderr


# Whose a file is.


@pytest.fixture
def owners(monkeypatch):
    """Have files and folders belong to others, whoever runs the tests, and this user be number 1000."""
    others = {}

    def of(real):
        def looked_at(path, *given, **more):
            known = real(path, *given, **more)
            owner = others.get(os.path.realpath(path), 1000)
            fields = [*known[:4], owner, *known[5:]]
            return os.stat_result(fields)

        return looked_at

    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    fake = {name: of(getattr(os, name)) for name in ("stat", "lstat")}

    class System:
        def __getattr__(self, name):
            return fake.get(name) or getattr(os, name)

    monkeypatch.setattr(project_files, "os", System())
    return others


@pytest.mark.parametrize("name", ["gainful.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("file", "folder", "user", "sudo", "taken"),
    [
        (1000, 1000, 1000, None, True),
        (0, 0, 1000, None, True),
        (1000, 0, 1000, None, True),
        (1001, 1000, 1000, None, False),
        (1000, 1001, 1000, None, False),
        (1001, 0, 1000, None, False),
        (1001, 1001, 1000, None, False),
        (1001, 1001, 1000, "1001", False),
        (1001, 1001, 0, None, False),
        (1001, 1001, 0, "1001", True),
        (1001, 1002, 0, "1001", False),
        (1001, 1001, 0, "x", False),
        (0, 0, 0, "1001", True),
    ],
)
def test_a_file_of_another_user_is_not_taken(
    project, cli, owners, monkeypatch, name, file, folder, user, sudo, taken
):
    table = "[tool.gainful]\n" if name == "pyproject.toml" else ""
    (project / name).write_text(f'{table}measures = "AP"\n')
    owners |= {str(project / name): file, str(project): folder}
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if sudo is not None:
        monkeypatch.setenv("SUDO_UID", sudo)
    done = cli("evaluate", "j.qrels", "a.run")
    assert done.returncode == (0 if taken else 2)
    if taken:
        return
    assert (
        "expected a project file that belongs to you, in a folder that does, found a f"
        in done.stderr
    )
    for words in (["config"], ["evaluate", "--help"], ["measures"]):
        assert cli(*words).returncode == 0
    assert "commands ignore it unless you name it with --config or trust it" in cli("config").stderr
    for words in (["--no-config"], ["--config", name], ["--trust"]):
        assert cli(*words, "evaluate", "j.qrels", "a.run").returncode == 0, words
    assert cli("config", "--trust").returncode == 0
    assert cli("evaluate", "j.qrels", "a.run").returncode == 0


def test_where_files_have_no_owners_none_is_checked(project, cli, owners, monkeypatch):
    """As on Windows."""
    (project / "gainful.toml").write_text('measures = "AP"\n')
    owners[str(project)] = 1001
    monkeypatch.delattr(os, "geteuid")
    assert cli("evaluate", "j.qrels", "a.run").returncode == 0


def test_a_file_that_is_really_of_another_user(project, cli, monkeypatch):
    """Root gives a file away; for anybody else, it is they who are another user."""
    (project / "gainful.toml").write_text('measures = "AP"\n')
    monkeypatch.delenv("SUDO_UID", raising=False)
    user = os.geteuid()
    if user == 0:
        os.chown(project / "gainful.toml", 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert f"found a file of user {user or 12345}" in cli("evaluate", "j.qrels", "a.run").stderr


# Where a file is looked for.


@pytest.mark.parametrize(
    ("git", "home", "at", "found"),
    [
        (None, None, "", True),
        (None, None, "a", True),
        ("", None, "a/b", True),
        ("a", None, "a", False),
        ("a", None, "a/b", False),
        (None, "", "a/b", True),
        (None, "a", "a/b", False),
        (None, "a", "a", False),
        (None, "a/b", "a", True),
    ],
)
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_the_search_ends_at_the_repository_and_at_home(
    project, cli, tmp_path, monkeypatch, kind, git, home, at, found
):
    (project / "gainful.toml").write_text('measures = "AP"\n')
    (project / "a" / "b").mkdir(parents=True)
    if git is not None:
        mark = project / git / ".git"
        mark.mkdir() if kind == "folder" else mark.write_text(
            "gitdir: elsewhere\n"
        )  # of a worktree
    if home is not None and kind == "file":  # which may be a link
        (tmp_path / "home").symlink_to(project / home)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
    else:
        monkeypatch.setenv("HOME", str(tmp_path if home is None else project / home))
    monkeypatch.chdir(project / at)
    rows = {row["setting"]: row["value"] for row in json.loads(cli("config", "-f", "json").stdout)}
    assert (rows["measures"] == "AP") == found
