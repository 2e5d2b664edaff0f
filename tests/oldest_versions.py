"""Print the lower bounds in `pyproject.toml` as constraints of pip: `name==version`, for `make oldest`."""

import re
import tomllib
from pathlib import Path

_BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*([0-9][0-9A-Za-z.]*)")


def constraints(project: dict[str, object], groups: tuple[str, ...]) -> list[str]:
    """Return the oldest version of every package of the project, of its extras and of some groups."""
    extras = project["project"]["optional-dependencies"]
    listed = [project["project"]["dependencies"], *extras.values()]
    listed += [project["dependency-groups"][group] for group in groups]
    bounds = {}
    for requirement in (text for texts in listed for text in texts if isinstance(text, str)):
        bound = _BOUND.match(requirement)
        if bound:
            bounds[bound[1].lower()] = bound[2]
    return [f"{name}=={version}" for name, version in sorted(bounds.items())]


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "pyproject.toml"
    print(*constraints(tomllib.loads(path.read_text()), ("quick",)), sep="\n")
