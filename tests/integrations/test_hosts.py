"""What all adapters have in common: when they are imported, and what is said without their host."""

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gainful as gf
from gainful.integrations.required_hosts import OLDEST
from heavy_hosts import HEAVY

ROOT = Path(__file__).parents[2]
HOSTS = gf.integrations.__all__
NOT_IMPORTED = ("beir", "mteb")  # what they have written and hold is read without them
IMPORTED = {"pyterrier": "ir_measures", "langchain": "langchain_core"}  # by which they are used


def test_every_host_has_a_module_a_page_and_an_oldest_version():
    assert sorted(HOSTS) == HOSTS == dir(gf.integrations) == [*OLDEST]
    pages = {path.stem for path in (ROOT / "docs" / "hosts").glob("*.md")}
    index = (ROOT / "docs" / "hosts" / "index.md").read_text()
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    for host, (package, oldest) in OLDEST.items():
        page = {"sklearn": "scikit_learn"}.get(host, host)
        assert page in pages
        assert f"({page}.md)" in index
        group = ["hosts", "hosts-alone"] if host in HEAVY else ["quick", "test"]
        assert any(f"{package}>={oldest}" in groups[each] for each in group)
        text = (ROOT / "docs" / "hosts" / f"{page}.md").read_text()
        (row,) = [
            line for line in index.splitlines() if f"({page}.md)" in line and line.startswith("|")
        ]
        versions = re.findall(r"\d+\.\d+[.\d]*", row.split("|")[-2])
        assert versions[0].startswith(oldest)
        assert all(version in text for version in versions)
        if host in HEAVY:  # tests/hosts/ looks at these
            continue
        module = importlib.import_module(f"gainful.integrations.{host}")
        assert module is getattr(gf.integrations, host)
        assert module.__all__ == sorted(module.__all__)
        for name in module.__all__:
            assert getattr(module, name).__doc__


@pytest.mark.parametrize("host", [host for host in HOSTS if host not in NOT_IMPORTED])
def test_a_host_that_is_missing_is_named_with_what_to_install(host):
    code = f"""
import sys
sys.modules[{IMPORTED.get(host, host)!r}] = None
import gainful as gf
try:
    gf.integrations.{host}
except gf.errors.MissingDependencyError as problem:
    first = str(problem)
try:
    from gainful.integrations.{host} import __all__
except ImportError as problem:
    assert str(problem) == first
print(first)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    package, oldest = OLDEST[host]
    assert f"gainful.integrations.{host}: expected the package {package}, found none" in done.stdout
    own = f"pip install '{package}>={oldest}'"
    assert ("pip install '.[mcp]'" if host == "mcp" else own) in done.stdout


def test_a_host_that_is_none_is_refused_as_python_does():
    with pytest.raises(
        AttributeError, match=r"module 'gainful\.integrations' has no attribute 'x'"
    ):
        _ = gf.integrations.x


def test_trainers_of_trees_need_no_torch():
    """The derivatives for them are NumPy's."""
    code = """
import sys
import gainful as gf
own = gf.integrations.lightgbm.objective("nDCG", method="xe", gamma=1)
print(own([1, 0], [0, 0], None, [2])[0].tolist(), {"torch", "jax"} & {*sys.modules})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[-1.0, 1.0] set()\n"
