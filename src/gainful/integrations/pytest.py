"""A plug-in for pytest: tests that fail if a run is significantly worse than a baseline.

pytest loads the plug-in at startup, so the code that measures is imported only when a gate is checked.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gainful.errors import GainfulError, InputError
from gainful.integrations.required_hosts import requiring
from gainful.measures.notation import Measures

with requiring("pytest"):
    import pytest

if TYPE_CHECKING:
    import gainful as gf
    from gainful.rows.input_types import Judgments, Run

__all__ = ["RankingGate", "ranking_gate"]

_NAME = "ranking_gate"  # the fixture and the marker
_NAMES = ("judgments", "base", "run", "measures")  # positional arguments of a gate
_DEFAULTS: dict[str, Any] = {"measures": "nDCG@10", "fail_if": (), "fail_unless": (), "movers": 3}
# Settings in pytest's configuration file and on its command line: name → type, meaning.
_SETTINGS = {
    "judgments": ("string", "The default judgments of gates: a file, relative to the root folder."),
    "base": ("string", "The default baseline of gates: a run or a saved baseline."),
    "measures": ("linelist", "The default measures of gates, such as nDCG@10."),
    "fail_if": ("linelist", "A gate without its own conditions fails if this condition holds."),
    "fail_unless": (
        "linelist",
        "A gate without its own conditions fails unless this condition holds.",
    ),
    "movers": (
        "string",
        "The number of queries that lost and gained the most to list in a failure.",
    ),
}
_FILES = ("judgments", "base")
_CHECKED = pytest.StashKey[list[dict[str, Any]]]()
_REPORT_ATTRIBUTE = (
    "gainful_gates"  # reports carry it from a test's process to the process that prints
)


class RankingGate:
    """The fixture `ranking_gate`: call it with a run, and the test fails if the gate fails.

    Missing arguments come from the marker, then the command line, then pytest's configuration file.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    @property
    def checked(self) -> int:
        """How many gates the test has checked."""
        return len(self._item.stash.get(_CHECKED, []))

    def __call__(self, *given: object, **more: object) -> "gf.results.Comparison":
        """Check a gate; if it fails, fail the test with the conditions, queries and documents.

        Args:
            *given: judgments, base, run and measures, as in `compare`.
            **more: the same arguments by name; `fail_if`, `fail_unless` and `movers`; and other options
                of `compare`. Without a condition, the gate fails if a measure is significantly worse.

        Returns:
            The comparison, with the names `base` and `run`.
        """
        __tracebackhide__ = True  # pytest shows the line of the test
        marked = _marked(self._item)
        if len(marked) > 1:
            _fail(
                f"{_NAME}: expected one marker on a test that calls the fixture, found {len(marked)}."
            )
        return self.check((marked[0] if marked else {}) | _by_name(given, more))

    def check(self, asked: dict[str, Any]) -> "gf.results.Comparison":
        """Check a gate with named arguments; missing ones come from the settings."""
        __tracebackhide__ = True
        asked = _settings(self._item.config, asked) | asked
        asked = _DEFAULTS | {name: value for name, value in asked.items() if value is not None}
        # The run first: it isn't a setting, so it is what a marker usually lacks.
        if lacking := [name for name in ("run", *_NAMES) if name not in asked]:
            _fail(f"{_NAME}: expected judgments, base and run, found no {lacking[0]}.")
        wrong = ""
        try:
            comparison, gate, failure = _check(**asked)
        except GainfulError as problem:
            wrong = str(problem)
        if wrong:  # outside of `except`, so that pytest shows no earlier error
            _fail(f"{_NAME}: {wrong}")
        checked = [[check.rule, check.result, check.found] for check in gate.checked]
        kept = self._item.stash.setdefault(_CHECKED, [])
        kept.append({"failed": gate.failed, "checked": checked})
        if failure:
            _fail(failure)
        return comparison


def _fail(message: str) -> Any:
    __tracebackhide__ = True
    # A message without gainful's traceback, below the name of the test.
    pytest.fail(message, pytrace=False)


def _by_name(by_place: Sequence[object], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return positional arguments under their names."""
    __tracebackhide__ = True
    if len(by_place) > len(_NAMES):
        _fail(f"{_NAME}: expected {', '.join(_NAMES)}, found {len(by_place)} positional arguments.")
    named = dict(zip(_NAMES, by_place, strict=False))
    if twice := sorted(named.keys() & more.keys()):
        _fail(f"{_NAME}: expected {twice[0]} once, found it by position and by name.")
    return named | dict(more)


def _marked(item: pytest.Item) -> list[dict[str, Any]]:
    """Return the gates from the markers of a test, each with defaults from the markers around it.

    Each marker of the test itself is a gate. A marker of a class or a module is a gate if it has a run;
    otherwise it provides defaults for the gates inside.
    """
    __tracebackhide__ = True
    by_node: dict[Any, list[dict[str, Any]]] = {}
    for node, mark in item.iter_markers_with_node(_NAME):
        by_node.setdefault(node, []).append(_by_name(mark.args, mark.kwargs))
    gates: list[dict[str, Any]] = [{}]
    for node in reversed(by_node):  # the nearest comes last, and counts
        own = by_node[node]
        if node is not item:
            for plain in (asked for asked in reversed(own) if "run" not in asked):
                gates = [gate | plain for gate in gates]
            own = [asked for asked in own if "run" in asked]
        if own:
            gates = [
                gate | asked for asked in own for gate in (gates[:1] if "run" in asked else gates)
            ]
    return gates if by_node else []


def _settings(config: pytest.Config, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings from the command line and pytest's configuration file."""
    settings: dict[str, Any] = {}
    for name in _SETTINGS:
        typed = config.getoption(f"gainful_{name}")
        value = typed or config.getini(f"gainful_{name}") or None
        if value is not None and name in _FILES and not typed:
            value = config.rootpath / value
        settings[name] = value
    if asked.get("fail_if") or asked.get("fail_unless"):
        # A gate with its own conditions has no others.
        settings["fail_if"] = settings["fail_unless"] = None
    return settings


def _check(
    judgments: "Judgments",
    base: "Run",
    run: "Run",
    measures: Measures,
    *,
    fail_if: str | Sequence[str],
    fail_unless: str | Sequence[str],
    movers: Any,
    **options: Any,
) -> tuple["gf.results.Comparison", "gf.results.Gate", str]:
    """Compare, check the conditions, and describe a failure; the text is empty if the gate passes."""
    import inspect

    import gainful as gf
    from gainful.message_texts import did_you_mean

    permitted = inspect.signature(gf.compare).parameters.keys() - {"runs"}
    if unknown := [name for name in options if name not in permitted]:
        choices = [*_NAMES, "fail_if", "fail_unless", "movers", *sorted(permitted - {*_NAMES})]
        hint = did_you_mean(unknown[0], choices)
        raise InputError("options", "options of a gate or of gf.compare", unknown[0], hint)
    runs = {"base": base, "run": run}
    if fail_if or fail_unless:
        dialect = options.get("dialect")
        gf.results.Gate.check_conditions(measures, fail_if, fail_unless, dialect=dialect)
    comparison = gf.compare(judgments, runs, measures, **options)
    if not (fail_if or fail_unless):
        fail_if = [f"change({name}) < 0" for name in comparison.measures]
    gate = comparison.gate(fail_if, fail_unless)
    if not gate.failed:
        return comparison, gate, ""
    lines = [f"{check.rule}: {check.found}" for check in gate.checked if check.failed]
    lines += gate.table().notes
    if (most := _whole(movers)) > 0:
        reading_options = gf.inputs.MeasuringOptions.__annotations__
        reading = {name: value for name, value in options.items() if name in reading_options}
        moved = gf.comparison.movers(comparison, judgments, runs, count=most, **reading)
        lines += ["", "Queries and documents that moved the most:", *_moved_lines(moved)]
    return comparison, gate, "\n".join(["The gate failed:", *lines])


def _whole(movers: object) -> int:
    """Return a number, which may be text from a configuration file or a command line."""
    try:
        count = int(str(movers))
    except ValueError:
        count = -1
    if count < 0:
        raise InputError("movers", "a non-negative integer", repr(movers))
    return count


def _moved_lines(moved: "gf.results.Movers") -> Iterator[str]:
    for query in moved.moved:
        scores = f"{query.baseline_score:.4f} → {query.run_score:.4f} ({query.difference:+.4f})"
        documents = f": {'; '.join(query.documents)}" if query.documents else ""
        yield f"  {query.measure} {query.query} {scores}{documents}"
    yield from (f"  {note}" for note in moved.notes)


@pytest.fixture
def ranking_gate(request: pytest.FixtureRequest) -> RankingGate:
    """Return a gate that checks a run against a baseline: `ranking_gate(judgments, base, run, "nDCG@10")`."""
    return RankingGate(request.node)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of gates to pytest's configuration file and command line."""
    group = parser.getgroup("gainful", "gates on rankings (gainful)")
    for name, (kind, meaning) in _SETTINGS.items():
        several: dict[str, Any] = {"action": "append"} if kind == "linelist" else {}
        group.addoption(
            f"--gainful-{name.replace('_', '-')}", dest=f"gainful_{name}", help=meaning, **several
        )
        parser.addini(f"gainful_{name}", meaning, type=kind, default=None)  # type: ignore[arg-type]


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the summary of all gates."""
    config.addinivalue_line(
        "markers",
        f"{_NAME}(judgments, base, run, measures, fail_if=…, fail_unless=…): fail the test if the run is "
        "significantly worse than the base; checked after the test, or by the fixture of the same name.",
    )
    config.pluginmanager.register(_Summary(), "gainful-summary")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Check the gates of a test's markers after the test has passed, unless its fixture has done so."""
    __tracebackhide__ = True
    done = yield
    gate = RankingGate(item)
    if not gate.checked:
        own = any(mark.name == _NAME for mark in item.own_markers)
        for asked in _marked(item):
            # A marker of a class or a module without a run only provides defaults.
            if own or "run" in asked:
                gate.check(asked)
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add the results of a test's gates to its report, which is sent between processes."""
    report: Any = yield
    if call.when == "call" and (checked := item.stash.get(_CHECKED, [])):
        setattr(report, _REPORT_ATTRIBUTE, checked)
    return report  # type: ignore[no-any-return]


class _Summary:
    """The summary of all gates, at the end of pytest's output."""

    def __init__(self) -> None:
        self._gates: dict[str, list[dict[str, Any]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, _REPORT_ATTRIBUTE):
            self._gates[report.nodeid] = getattr(report, _REPORT_ATTRIBUTE)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        gates = [gate for own in self._gates.values() for gate in own]
        if not gates:
            return
        failed = sum(gate["failed"] for gate in gates)
        terminalreporter.section("gates on rankings")
        for test in sorted(self._gates):
            for gate in self._gates[test]:
                for rule, result, value in gate["checked"]:
                    wrong = result == "failed"
                    word = "FAILED" if wrong else result
                    terminalreporter.line(f"{word} {test}: {rule}: {value}", red=wrong)
        terminalreporter.line(f"{failed} of {len(gates)} gates failed")
