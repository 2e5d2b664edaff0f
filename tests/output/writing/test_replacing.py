"""A file is replaced only when the new one is complete."""

import os
import subprocess
import sys

import pytest

import gainful as gf
from gainful.output.writing.output_files import replacing
from gainful.rows.duckdb_engine import Session

RUN = {"q": {"a": 1.0}}


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left"), RuntimeError(), KeyboardInterrupt()]
)
@pytest.mark.parametrize("old", ["old", None])
def test_the_old_file_stays_where_writing_fails(failure, old, tmp_path):
    file = tmp_path / "x"
    if old:
        file.write_text(old)
    expected = gf.errors.InputError if isinstance(failure, OSError) else type(failure)

    def fail():
        with replacing(file) as temporary:
            assert temporary.parent.parent == tmp_path
            temporary.write_text("half")
            raise failure

    with pytest.raises(expected):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == (["x"] if old else [])
    if old:
        assert file.read_text() == old
    with replacing(file) as temporary:
        temporary.write_text("new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x", "new")]


@pytest.mark.parametrize("name", ["x.run", "x.csv.gz", "x.parquet"])
def test_an_engine_that_fails_in_the_middle(name, tmp_path, monkeypatch):
    (tmp_path / name).write_text("old")
    execute = Session.execute

    def fail(self, sql, values=()):
        execute(self, sql, values)
        if sql.startswith("COPY") and "LIMIT 1" not in sql:
            raise KeyboardInterrupt

    monkeypatch.setattr(Session, "execute", fail)
    with pytest.raises(KeyboardInterrupt):
        gf.write_run(RUN, tmp_path / name)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "old")]


def test_a_limit_on_the_size_of_files(tmp_path):
    """The disk is full, as near as a test can come."""
    (tmp_path / "x.run").write_text("old")
    code = (
        "import resource, signal, gainful as gf\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "run = {'q': {f'd{doc}': doc / 3 for doc in range(20_000)}}\n"
        "for name in ('x.run', 'x.run.gz'):\n"
        "    try:\n"
        "        gf.write_run(run, name)\n"
        "    except gf.errors.InputError as problem:\n"
        "        print(problem)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "x.run: expected a file that can be written, found File too large.",
        "temporary directory: expected room for temporary files, found File too large. Choose another: the folder of the engine, --temp-dir, or TMPDIR in the environment.",
    ]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.run", "old")]


def test_permissions_are_kept_and_new_files_get_the_usual(tmp_path):
    file, new = tmp_path / "x.run", tmp_path / "new.run"
    file.write_text("old")
    for mode in (0o600, 0o640, 0o444):
        file.chmod(mode)
        with replacing(file) as temporary:
            assert temporary.parent.stat().st_mode & 0o077 == 0
        gf.write_run(RUN, file)
        assert file.stat().st_mode & 0o7777 == mode
    previous = os.umask(0o027)
    try:
        gf.write_run(RUN, new)
    finally:
        os.umask(previous)
    assert new.stat().st_mode & 0o7777 == 0o640


def test_links_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    file, link, loose = (tmp_path / name for name in ("there/x.run", "link.run", "loose.run"))
    file.write_text("old")
    link.symlink_to(file)
    loose.symlink_to(tmp_path / "there" / "new.run")
    for name in (link, loose):
        gf.write_run(RUN, name)
        assert name.is_symlink()
        assert name.read_text() == "q Q0 a 1 1.0 gainful\n"
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["new.run", "x.run"]


def test_pipes_and_devices_are_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        gf.write_run(RUN, pipe, format="trec")
        assert reader.communicate(timeout=30)[0] == "q Q0 a 1 1.0 gainful\n"
    assert pipe.is_fifo()
    gf.writing.write_text("gone", "/dev/null")
    assert not os.path.isfile("/dev/null")  # noqa: PTH113 - a path of a device
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_standard_output(capfdbinary):
    print("before")
    gf.write_run(RUN, "-", format="csv")
    gf.writing.write_text("after", "/dev/stdout")
    assert capfdbinary.readouterr().out.endswith(b"after")


def test_standard_output_in_order():
    code = "import gainful as gf; print(1); gf.writing.write_text('2\\n', '-'); print(3)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n2\n3\n"


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize("name", ["/", "no such folder/x", "a\0b", "."])
def test_what_cannot_be_written_is_named(name, dry):
    with pytest.raises(gf.errors.InputError, match="expected a file that can be written") as caught:
        gf.writing.write_text("text", name, dry=dry)
    assert caught.value.where == name
    assert caught.value.found not in ("", "None")


def test_an_empty_name_is_told_to_want_one():
    with pytest.raises(gf.errors.InputError, match="'': expected the name of a file to write"):
        gf.writing.write_text("text", "")


def test_a_dry_try_leaves_no_trace(tmp_path):
    kept = tmp_path / "kept.txt"
    kept.write_text("before")
    for path in (kept, tmp_path / "new.txt", "-", "/dev/null"):
        gf.writing.write_text("text", path, dry=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("kept.txt", "before")
    ]


@pytest.mark.parametrize("path", [3, None, ["x.run"]])
def test_what_is_no_path(path):
    with pytest.raises(gf.errors.InputError, match="the path of a file to write"):
        gf.writing.write_text("text", path)
    with pytest.raises(gf.errors.InputError, match="the path of a file to write"):
        gf.write_run(RUN, path)


@pytest.mark.parametrize("name", ["a[b]*?.run", "it's.run", "ü {x}.run", "#.run", "\udcff.run"])
def test_names_with_odd_characters(name, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    gf.write_run(RUN, folder / name)
    assert (folder / name).read_text() == "q Q0 a 1 1.0 gainful\n"
    assert [path.name for path in folder.iterdir()] == [name]
