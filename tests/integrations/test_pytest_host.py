"""The plug-in for pytest, in test suites of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf
from pytest_suites import keep_modules  # noqa: F401 - a fixture

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "hosts" / "pytest.md"
JUDGMENTS = {f"q{i}": {"a": 1} for i in range(20)}
BASE = {query: {"a": 2, "b": 1} for query in JUDGMENTS}
# In three of four queries, the one document is a rank or two further down: RR falls by about 0.4.
WORSE = {
    query: [BASE[query], {"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 2}, {"a": 1, "b": 2}][i % 4]
    for i, query in enumerate(JUDGMENTS)
}
SECRET = "planted-4711"  # noqa: S105 - in a variable that nothing may print


@pytest.fixture
def suite(pytester, monkeypatch):
    """A folder with judgments and runs, where pytest has this plug-in and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("SEARCH_TOKEN", SECRET)
    for name in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):  # with the last two it prints more
        monkeypatch.delenv(name, raising=False)
    gf.write_judgments(JUDGMENTS, "judgments.qrels")
    for name, run in {"base": BASE, "new": WORSE, "same": BASE}.items():
        gf.write_run(run, f"{name}.run")

    def call(test, *arguments, **outcomes):
        pytester.makepyfile(test)
        # Without the other plug-in, which looks through this process for garbage five times.
        plug_ins = ("-p", "gainful.integrations.pytest", "-p", "no:unraisableexception")
        found = pytester.runpytest_inprocess(*plug_ins, *arguments)
        if outcomes:
            found.assert_outcomes(**outcomes)
        assert SECRET not in found.stdout.str() + found.stderr.str()
        return found

    return call


def a_call(run, measure="RR", **more):
    given = "".join(f", {name}={value!r}" for name, value in more.items())
    return f"""
        def test_search(ranking_gate):
            found = ranking_gate("judgments.qrels", "base.run", "{run}.run", "{measure}"{given})
            assert found["run", "{measure}"].queries == 20
    """


def test_weights_and_clusters_are_options(suite):
    queries = [*JUDGMENTS]
    last = {query: float(at == 19) for at, query in enumerate(queries)}
    suite(a_call("same", weights=dict.fromkeys(queries, 1.0) | last), passed=1)
    alike = dict.fromkeys(queries, "one user")
    suite(a_call("new", clusters=alike), passed=1)  # a single cluster has no interval
    suite(a_call("new", weights={"q0": 1}), failed=1).stdout.fnmatch_lines(
        ["*weights: expected a weight for every query*"]
    )


def test_a_run_that_is_worse_fails_with_queries_and_documents(suite):
    found = suite(a_call("new"), failed=1)
    gate = gf.compare(JUDGMENTS, {"base": BASE, "run": WORSE}, "RR").gate("change(RR) < 0")
    told = found.stdout.str()
    assert f"fail if change(RR) < 0: {gate.checked[0].found}" in told
    assert "RR q2 1.0000 → 0.3333 (-0.6667): a 1 → 3 (-0.6667)" in told
    assert "Traceback" not in told
    assert "integrations/pytest.py" not in told


def test_a_run_that_is_as_good_passes_and_is_summed_up(suite):
    found = suite(a_call("same"), passed=1)
    assert "gates on rankings" in found.stdout.str()
    found.stdout.fnmatch_lines(["passed *::test_search: fail if change(RR) < 0: +0.0000, 95% *"])
    found.stdout.fnmatch_lines(["0 of 1 gates failed"])


def test_the_interval_decides_and_not_the_mean(suite):
    # The mean is lower by 0.43; the interval does not lie below −0.4 as a whole.
    mean = gf.compare(JUDGMENTS, {"base": BASE, "run": WORSE}, "RR")["run", "RR"]
    assert mean.difference < -0.4 < mean.interval.high
    suite(a_call("new", fail_if="Δ RR < -0.4"), passed=1)
    suite(a_call("new", fail_unless="Δ RR > -0.4"), failed=1)


def test_a_marker_is_checked_when_the_test_is_through(suite):
    found = suite(
        """
        import shutil
        import pytest

        @pytest.mark.ranking_gate("judgments.qrels", "base.run", "late.run", "RR", fail_if="Δ RR < 0")
        def test_late():
            shutil.copy("new.run", "late.run")

        @pytest.mark.ranking_gate("judgments.qrels", "base.run", "new.run", "RR")
        def test_that_fails_by_itself():
            assert 1 == 2

        @pytest.mark.ranking_gate(judgments="judgments.qrels", base="base.run", measures="RR")
        class TestClass:
            def test_by_call(self, ranking_gate):
                ranking_gate(run="same.run")

            @pytest.mark.ranking_gate(fail_if="missing > 0")
            def test_nearest_first(self, ranking_gate):
                ranking_gate(run="new.run")

            def test_without_a_run(self):
                pass
        """,
        passed=3,
        failed=2,
    )
    assert "2 of" not in found.stdout.str()
    found.stdout.fnmatch_lines(
        ["*fail if Δ RR < 0: -0.4*", "*assert 1 == 2*", "1 of 3 gates failed"]
    )


def test_a_marker_counts_for_unittest_and_for_tests_that_are_expected_to_fail(suite):
    suite(
        """
        import unittest
        import pytest

        marked = pytest.mark.ranking_gate("judgments.qrels", "base.run", "new.run", "RR")

        @marked
        class TestOld(unittest.TestCase):
            def test_search(self):
                pass

        @marked
        @pytest.mark.xfail(strict=True)
        def test_known():
            pass

        @marked
        def test_skipped():
            pytest.skip("no service")
        """,
        failed=1,
        xfailed=1,
        skipped=1,
    )


def test_settings_of_file_and_command_line(suite, pytester):
    pytester.makepyprojecttoml(
        '[tool.pytest.ini_options]\ngainful_judgments = "judgments.qrels"\ngainful_base = "base.run"\n'
        'gainful_measures = ["RR"]\ngainful_fail_if = ["Δ RR < -0.4"]\ngainful_movers = "1"\n'
        'addopts = ["--strict-markers", "--strict-config"]\n'
    )
    test = "def test_search(ranking_gate):\n    ranking_gate(run='new.run')\n"
    suite(test, passed=1)
    found = suite(test, "--gainful-fail-if", "Δ RR < 0", failed=1)
    assert found.stdout.str().count("RR q") == 1
    found = suite(test, "--gainful-fail-if", "Δ RR < 0", "--gainful-movers", "0", failed=1)
    assert "moved the most" not in found.stdout.str()
    suite(test, "--gainful-base", "new.run", "--gainful-fail-if", "Δ RR < 0", passed=1)
    # Conditions come all from one place.
    own = "def test_search(ranking_gate):\n    ranking_gate(run='new.run', fail_if='missing > 0')\n"
    suite(own, "--gainful-fail-if", "Δ RR < 0", passed=1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("run='new.run'", "expected judgments, base and run, found no judgments"),
        ("'judgments.qrels', 'base.run', 'gone.run'", "gone.run"),
        ("'judgments.qrels', 'base.run', 'new.run', fail_if='Δ nDCG < x'", "x isn't a number"),
        ("'judgments.qrels', 'base.run', 'new.run', base='b'", "by position and by name"),
        ("1, 2, 3, 4, 5", "found 5 positional arguments"),
        ("", "expected judgments, base and run, found no run"),
        (
            "'judgments.qrels', 'base.run', 'new.run', measure='RR'",
            "found measure. Did you mean 'measures'?",
        ),
        (
            "'judgments.qrels', 'base.run', 'new.run', runs={}",
            "options of a gate or of gf.compare, found runs",
        ),
        ("'judgments.qrels', 'base.run', 'new.run', 'RR', movers='x'", "a non-negative integer"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(suite, call, said):
    found = suite(f"def test_search(ranking_gate):\n    ranking_gate({call})\n", failed=1)
    is_one_sentence(found.stdout.str(), said)


def is_one_sentence(told, said):
    assert re.search(rf"^ranking_gate: .*{re.escape(said)}", told, re.MULTILINE)
    for word in (
        "Traceback",
        "integrations/pytest.py",
        "During handling",
        "TypeError",
        "InputError",
    ):
        assert word not in told


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("('judgments.qrels', 'new.run')", "expected judgments, base and run, found no run"),
        ("('judgments.qrels', 'new.run', fail_if='missing > 0')", "found no run"),
        ("", "expected judgments, base and run, found no run"),
        ("(run='new.run')", "expected judgments, base and run, found no judgments"),
        ("('judgments.qrels', 'base.run', 'gone.run')", "gone.run"),
        ("('judgments.qrels', 'base.run', 'new.run', fail='x')", "options of a gate or of gf.compare, found fail"),
        ("(1, 2, 3, 4, 5)", "found 5 positional arguments"),
    ],
)  # fmt: skip
def test_a_marker_that_cannot_be_checked_fails(suite, given, said):
    test = f"import pytest\n@pytest.mark.ranking_gate{given}\ndef test_search():\n    pass\n"
    is_one_sentence(suite(test, failed=1).stdout.str(), said)


def test_each_marker_of_a_test_is_checked(suite):
    """Whichever of two is the nearest, the one that fails is not passed over."""
    found = suite(
        """
        import pytest

        good = pytest.mark.ranking_gate("judgments.qrels", "base.run", "same.run", "RR")
        bad = pytest.mark.ranking_gate("judgments.qrels", "base.run", "new.run", "RR")

        @bad
        @good
        def test_far():
            pass

        @good
        @bad
        def test_near():
            pass

        @good
        @good
        def test_both():
            pass

        @good
        @pytest.mark.ranking_gate(fail_if="missing > 0")
        def test_one_without_a_run():
            pass

        @bad
        @good
        class TestClass:
            def test_outside(self):
                pass

            @good
            def test_nearest(self):
                pass

            @pytest.mark.ranking_gate(fail_if="missing > 0")
            def test_other_conditions_of_both(self):
                pass
        """,
        passed=3,
        failed=4,
    )
    # far 2, near 1 (the failure ends it), both 2, none without a run, outside 2, nearest 1, conditions 2
    found.stdout.fnmatch_lines(["*found no run*", "3 of 10 gates failed"])


def test_the_fixture_takes_what_one_marker_says(suite):
    test = """
        import pytest

        @pytest.mark.ranking_gate("judgments.qrels", "base.run")
        def test_one(ranking_gate):
            ranking_gate(run="same.run", measures="RR")

        @pytest.mark.ranking_gate("judgments.qrels", "base.run")
        @pytest.mark.ranking_gate(measures="RR")
        def test_two(ranking_gate):
            ranking_gate(run="same.run")
    """
    found = suite(test, passed=1, failed=1)
    said = "expected one marker on a test that calls the fixture, found 2"
    is_one_sentence(found.stdout.str(), said)


def test_processes_of_xdist_are_summed_up_once(pytester, suite, monkeypatch):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("run", ["new", "same"])
        def test_search(ranking_gate, run):
            ranking_gate("judgments.qrels", "base.run", f"{run}.run", "RR")
        """
    )
    plug_ins = ("-p", "gainful.integrations.pytest", "-p", "xdist")
    found = pytester.runpytest_subprocess(*plug_ins, "-n", "2")
    found.assert_outcomes(passed=1, failed=1)
    assert found.stdout.str().count("gates on rankings") == 1
    found.stdout.fnmatch_lines(["FAILED *test_search?new?: *", "passed *test_search?same?: *"])
    found.stdout.fnmatch_lines(["1 of 2 gates failed"])


def test_a_saved_baseline_names_queries(suite):
    gf.comparison.save_baseline(gf.evaluate(JUDGMENTS, BASE, "RR"), "base.json")
    found = suite(a_call("new").replace("base.run", "base.json"), failed=1)
    assert "RR q2 1.0000 → 0.3333 (-0.6667)\n" in found.stdout.str()
    assert "base is a saved baseline" in found.stdout.str()


def test_the_page_is_a_test_suite(suite):
    (example,) = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    found = suite(example, failed=2)
    assert found.stdout.str().count("FAILED test_") >= 2
    gf.write_run(BASE, "new.run")
    suite(example, passed=2)


def test_the_settings_on_the_page_are_those_that_there_are(suite, pytester):
    (settings,) = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    pytester.makepyprojecttoml(settings)
    test = "def test_search(ranking_gate):\n    ranking_gate(run='new.run')\n"
    suite(test, "--strict-config", failed=1)
    for name in re.findall(r"--gainful-[a-z-]+", PAGE.read_text()):
        assert name in suite(test, "--help").stdout.str()


def test_pytest_starts_without_what_measures():
    code = "import sys, gainful.integrations.pytest; print({'numpy', 'duckdb', 'scipy', 'click'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_pytest_finds_the_plug_in_by_its_entry_point():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"gainful": "gainful.integrations.pytest"}
