"""What messages, pages and templates tell to install is there: the extras of pyproject.toml."""

import re
import tomllib
from pathlib import Path

import gainful as gf

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# gainful[report], '.[report]' and "${GITHUB_ACTION_PATH}[report]".
NAMED = re.compile(r"(?:\bgainful|(?<=['\"])\.|_PATH\})\[([a-z,]+)\]")
PLACES = ("README.md", "CONTRIBUTING.md", "action.yml", "docs", "src", "templates", "examples")


def named():
    """Return the extras that are named, with where."""
    found = {}
    for place in (ROOT / name for name in PLACES):
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.suffix in (".md", ".py", ".yml", ".js"):
                for extras in NAMED.findall(path.read_text(encoding="utf-8")):
                    for extra in extras.split(","):
                        found.setdefault(extra, []).append(path.relative_to(ROOT).as_posix())
    return found


def test_every_extra_that_is_named_exists():
    found = named()
    assert {extra: places for extra, places in found.items() if extra not in EXTRAS} == {}
    assert "templates/gainful.yml" in found["report"]
    assert "action.yml" in found["report"]
    assert "src/gainful/cli/look_up.py" in found["mcp"]


def test_all_is_all_others():
    (everything,) = EXTRAS["all"]
    assert sorted(NAMED.findall(everything)[0].split(",")) == sorted(EXTRAS.keys() - {"all"})


def test_messages_and_pages_tell_one_command():
    """Nothing is on PyPI: an extra is installed from the repository, by one command."""
    told = r"pip install '?gainful\["
    for path in [*ROOT.joinpath("docs").rglob("*.md"), *ROOT.joinpath("src").rglob("*.py")]:
        assert not re.search(told, path.read_text(encoding="utf-8")), path
    for page in ("README.md", "docs/index.md", "docs/start.md"):
        assert "pip install '.[report]'\n" in (ROOT / page).read_text(encoding="utf-8")
    message = str(gf.errors.MissingDependencyError.of_extra("report", "altair", "report"))
    assert message.endswith("run: pip install '.[report]'")
