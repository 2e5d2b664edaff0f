"""Shared settings: the tests run in the environment that `make test` sets up."""

import atexit
import gc
import io
import logging
import os
import socket
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from slow_tests import (
    ALIKE,
    APART,
    ONLY_DEEP,
    REPRESENTED,
    RESOURCES,
    SLOW,
    THINNED,
    drawn,
    part_of,
    shared_resource,
    thinned,
    values_of,
)

_APART = "gw0"  # the process of xdist that has what is apart
_NOTED = 0.5  # seconds of a fixture that may be among the slowest

logging.getLogger().addHandler(logging.NullHandler())  # else warnings go to standard error

# Half of Hypothesis's usual examples, the same ones every time, so that a commit that passes once keeps
# passing; `make deep` draws new ones, and all of them. How slow an example is depends on the machine.
_ANY_MACHINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("gainful", derandomize=True, max_examples=50, **_ANY_MACHINE)
settings.register_profile("deep", print_blob=True, **_ANY_MACHINE)
settings.load_profile("gainful")

ROOT = Path(__file__).parents[1]
# Last, so that a tool itself is taken wherever it is installed.
sys.path.append(str(ROOT / "tests" / "stand_ins"))
# What other copies of the project on this machine may use as well.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gainful-tests"
# JAX keeps what it compiles, and finds it by its code in the next process; PyTorch does so unasked.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


def _keep_the_bundle():
    """Have vl-convert bundle the scripts of the charts once: it takes three seconds in every process."""
    import vl_convert

    bundle = vl_convert.javascript_bundle
    kept = CACHE / f"vega-{vl_convert.__version__}.js"

    def bundled(*given, **options):
        if given or options:
            return bundle(*given, **options)
        if not kept.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            new = kept.with_suffix(f".{os.getpid()}")
            new.write_bytes(bundle().encode())
            new.replace(kept)
        return kept.read_bytes().decode()

    vl_convert.javascript_bundle = bundled


_keep_the_bundle()


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out the tests in slow_tests.py")
    parser.addoption(
        "--deep", action="store_true", help="try every test and every case of a matrix"
    )
    parser.addoption(
        "--rest", metavar="PART/PARTS", help="try a part of what only --deep tries, such as 1/16"
    )
    parser.addoption(
        "--pictures", action="store_true", help="write the pictures of the documentation anew"
    )


def pytest_configure(config):
    """Have each process of xdist collect another folder first: what one compiles the others find.

    Of three, the first collects what is apart, and nothing else.
    """
    if config.option.deep:
        settings.load_profile("deep")
    process = getattr(config, "workerinput", None)
    config.asked = config.args
    config.by_path = bool(process) and config.args == config.getini("testpaths")
    if config.by_path and process["workercount"] > 2 and process["workerid"] == _APART:
        config.args = [f"{ROOT}/{each}" for each in APART]
    elif config.by_path:
        left_out = config.getini("norecursedirs")
        folders = [
            each
            for each in sorted((ROOT / "tests").iterdir())
            if each.is_dir()
            and each.name[0] not in "._"
            and each.name not in left_out
            and not (config.option.quick and f"tests/{each.name}/" in SLOW)
        ]
        first = len(folders) * int(process["workerid"][2:]) // process["workercount"]
        config.args = [str(each) for each in (*folders[first:], *folders[:first])]


def pytest_ignore_collect(collection_path, config):
    """With --quick, do not even import a file that is slow: what it imports is often slow too."""
    if config.option.quick and collection_path.is_relative_to(ROOT):
        path = collection_path.relative_to(ROOT).as_posix()
        return True if path in SLOW or f"{path}/" in SLOW else None
    return None


@pytest.fixture
def _no_own_names():
    """Leave no names of measures, discounts and gains behind, nor find any of another test."""
    from gainful.measures.notation import KINDS, forget

    before = [dict(names.in_use) for names in KINDS]
    for names in KINDS:
        names.in_use.clear()
    forget()
    yield
    for names, known in zip(KINDS, before, strict=True):
        names.in_use.clear()
        names.in_use.update(known)
    forget()


def _place(item):
    """Return the place of a test's first entry in the table, or None if the test is quick."""
    name = item.nodeid
    if not name.startswith(SLOW):
        return None
    return next(at for at, start in enumerate(SLOW) if name.startswith(start))


def _only_deep(config, items):
    """Return the ids of what `make deep` alone tries, but for what is asked for by its name."""
    asked = [each for each in config.asked if "[" in each]
    named = {each.partition("::")[2].partition("[")[0] for each in config.asked if "::" in each}
    alike, matrices, represented, left = {}, {}, {}, set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        if any(map(item.nodeid.endswith, asked)):
            continue
        if name in ONLY_DEEP and name.partition("::")[2] not in named:
            left.add(item.nodeid)
            continue
        if name in ALIKE:
            alike.setdefault(name, []).append(item.nodeid)
        if name in THINNED:
            matrices.setdefault(name, {})[item.nodeid] = item.callspec.id
        if name in REPRESENTED:
            represented.setdefault(name, {})[item.callspec.id] = item.nodeid
    for name, cases in alike.items():
        left |= {*cases} - drawn(cases, ALIKE[name])
    for name, cases in matrices.items():
        left |= cases.keys() - thinned(values_of(cases), THINNED[name])
    for name, cases in represented.items():
        table = REPRESENTED[name]
        known = {one for one in (*table, *table.values()) if "::" not in one}
        if not asked and (gone := known - cases.keys()):
            raise pytest.UsageError(f"{name} has no case {sorted(gone)}: see tests/slow_tests.py")
        left |= {node for case, node in cases.items() if case in table}
    return left


def _leave_out(config, items, left):
    """Leave out some tests, by their ids."""
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


def pytest_collection_modifyitems(config, items):
    """Put the slow tests first, so that no process is left alone with one at the end."""
    if config.by_path:  # the order is the same in every process
        items.sort(key=lambda item: item.path)
    every, left = {item.nodeid for item in items}, set()
    if config.option.rest:
        try:
            left = every - part_of(_only_deep(config, items), config.option.rest)
        except ValueError as problem:
            raise pytest.UsageError(f"--rest: {problem}") from None
    elif not (config.option.deep or config.option.pictures):
        left = _only_deep(config, items)
    _leave_out(config, items, left)
    places = {item: _place(item) for item in items}
    if config.option.quick:
        _leave_out(config, items, {one.nodeid for one in items if places[one] is not None})
    items.sort(key=lambda item: len(SLOW) if places[item] is None else places[item])


gc.disable()  # until all is collected: what is imported stays, and to look through it takes a third


def pytest_collection_finish():
    """Spare the garbage collector the modules and tests, which stay until the end.

    What is garbage by now stays with them: to find it would take a second.
    """
    gc.freeze()
    gc.enable()


def pytest_runtest_protocol(item, nextitem):
    """In a process of xdist, report of a test what somebody reads: each report takes a millisecond on its way."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or report.outcome != "passed" or report.duration > _NOTED:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Spare it, after each file, what that has left behind: PyTorch, JAX and Spark keep a great deal.

    Else every look through all of it takes seconds, and statsmodels asks for one in each correction.
    """
    done = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return done


def pytest_unconfigure():
    """Look through all of it once; pytest itself would do so five times."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # JAX tells of what is left


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run the tests of one file, or of one shared resource, in one process; each page of the site in any."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        """Units of work in the order of the table; what is apart goes to the process that has only that."""

        def schedule(self):
            by_size = sorted(self.registered_collections.items(), key=lambda each: -len(each[1]))
            self.registered_collections = dict(by_size)  # the first is taken for the whole
            super().schedule()

        def _check_nodes_have_same_collection(self):
            """Compare what was collected, but for the process that has a part."""
            every = self.registered_collections
            (_, whole), *_ = every.items()
            self.registered_collections = {
                node: found
                for node, found in every.items()
                if not (node.gateway.id == _APART and set(found) < set(whole))
            }
            same = super()._check_nodes_have_same_collection()
            self.registered_collections = every
            return same

        def _split_scope(self, nodeid):
            if nodeid.startswith("tests/site/"):
                return nodeid
            return shared_resource(nodeid) or nodeid.partition("::")[0]

        def _units_for(self, node):
            """Return the units that a process can run; at the end, the others help the one that has a part."""
            partial = [
                each
                for each in self.nodes
                if len(self.registered_collections.get(each, self.collection))
                < len(self.collection)
            ]
            apart = [
                name for name, unit in self.workqueue.items() if next(iter(unit)).startswith(APART)
            ]
            if node in partial:
                return apart
            if not partial:
                return list(self.workqueue)
            rest = [name for name in self.workqueue if name not in apart]
            return rest + [name for name in apart if name not in RESOURCES]

        def _assign_work_unit(self, node):
            scope = next(iter(self._units_for(node)), None)
            if scope is None:
                node.shutdown()
                return
            unit = self.workqueue.pop(scope)
            self.assigned_work[node][scope] = unit
            places = {each: at for at, each in enumerate(self.registered_collections[node])}
            node.send_runtest_some([places[each] for each, done in unit.items() if not done])

    config.option.loadscopereorder = False  # the order is that of the table, not of counts
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def deep(pytestconfig):
    """Return whether as many random cases are tried as ever are: with `make deep`."""
    return pytestconfig.option.deep


class Done(NamedTuple):
    """What a call of the command line came to."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def cli(monkeypatch, capsys):
    """Call the command line in this process, which saves the start of another."""
    from gainful.cli import commands
    from gainful.cli import main as process

    def call(*arguments, stdin=""):
        given = io.BytesIO(stdin if isinstance(stdin, bytes) else stdin.encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
        monkeypatch.setattr(sys, "argv", ["gainful", *map(str, arguments)])
        # Otherwise, the usage begins with the way in which the tests were started.
        monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
        monkeypatch.setattr(process, "_hear_signals", lambda: None)  # they are the tests'
        monkeypatch.setattr(process, "keep_imports", lambda: None)  # this process goes on
        monkeypatch.setattr(commands, "import_quickly", lambda: None)
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # which main replaces
        capsys.readouterr()
        with pytest.raises(SystemExit) as done:
            process.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(done.value.code, out, err)

    return call


@pytest.fixture
def process():
    """Call the command line in a process of its own, as a user does."""

    def call(*arguments, stdin=None):
        return subprocess.run(
            [sys.executable, "-m", "gainful", *map(str, arguments)],
            capture_output=True,
            text=True,
            input=stdin,
            check=False,
            timeout=60,
        )

    return call


@pytest.fixture
def files(tmp_path):
    """Write files for a test, from text or bytes, and return their paths."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


class _Logged(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))


@pytest.fixture
def logged():
    """Return what is logged while the test runs, with its tracebacks."""
    handler, root = _Logged(), logging.getLogger()
    loggers = [root] + [
        each
        for each in root.manager.loggerDict.values()
        if isinstance(each, logging.Logger) and not each.propagate
    ]
    for each in loggers:
        each.addHandler(handler)
    yield handler.lines
    for each in loggers:
        each.removeHandler(handler)


def _free_port():
    with socket.create_server(("localhost", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture(scope="session")
def spark(request):
    """Start Spark once, on two cores; a task may fail three times. A server of Connect, if it is asked for.

    It does not compile its plans, check each step of making them, or change them on the way, which
    takes longer than to run them on few rows. The command line in test_spark_at_work.py has it as it is.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from spark_cases import QUICK_JAVA, remember_names_of_java

    remember_names_of_java()

    server = {}
    if any("connect_port" in each.fixturenames for each in request.session.items):
        server = {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.port": str(_free_port()),
        }
    # For what Java starts: the workers of Connect do not ask executorEnv.
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(ROOT / "tests"), prepend=os.pathsep)
        session = (
            SparkSession.builder.master("local[2,4]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.memory", "2g")
            .config("spark.log.level", "OFF")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.sql.lightweightPlanChangeValidation", "false")
            .config("spark.python.sql.dataFrameDebugging.enabled", "false")
            .config("spark.driver.extraJavaOptions", f"{QUICK_JAVA} -Xms1g -Xmn600m")
            .config(map=server)
            .config("spark.python.daemon.module", "spark_daemon")
            .config("spark.executorEnv.PYTHONPATH", str(ROOT / "tests"))
            .getOrCreate()
        )
    yield session
    session.stop()


@pytest.fixture
def connect_port(spark):
    """Return the port at which the session answers Spark Connect."""
    return spark.conf.get("spark.connect.grpc.binding.port")


@pytest.fixture
def on_engine(monkeypatch):
    """Have the engine read tables of any size, also those that Python would read faster."""
    from gainful.rows import table_source

    monkeypatch.setattr(table_source, "MOST_ROWS", 0)
