"""The version: that of the tag, or the next one with the commit of a development tree."""

from pathlib import Path

NEXT = "1.0.0"
"""The version in preparation; a release has the version of its tag, `v1.0.0`."""
_HERE = Path(__file__)
_BUILT = _HERE.with_name("built_version.txt")  # written into wheels and source distributions
_SHOWN = 8  # characters of a commit


def version_to_build(root: Path = _HERE.parents[2]) -> str:
    """Return the version of a wheel or a source distribution of a tree: that of its tag, if there is one."""
    if not (root / ".git").exists():
        return _BUILT.read_text().strip() if _BUILT.exists() else f"{NEXT}.dev0"
    import subprocess

    command = ["git", "-C", str(root), "describe", "--exact-match", "--tags", "--match", "v[0-9]*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        tag = done.stdout.strip()
    except FileNotFoundError:  # git isn't installed, as in most containers
        tag = ""
    return tag.removeprefix("v") or _of_tree(root) or f"{NEXT}.dev0"


def _of_tree(root: Path) -> str:
    """Return the next version with the commit of a development tree; empty elsewhere.

    Files are read, because starting git would take longer than importing gainful.
    """
    project = root / "pyproject.toml"
    if not project.is_file() or 'name = "gainful"' not in project.read_text(encoding="utf-8"):
        return ""
    commit = _commit(root / ".git")
    return f"{NEXT}.dev0+g{commit[:_SHOWN]}" if commit else ""


def _commit(git: Path) -> str:
    """Return the commit that is checked out; empty if it can't be found."""
    try:
        if git.is_file():  # of a further work tree: "gitdir: PATH"
            git = (git.parent / git.read_text().removeprefix("gitdir:").strip()).resolve()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return head
        name, shared = head.removeprefix("ref:").strip(), git / "commondir"
        common = (git / shared.read_text().strip()).resolve() if shared.exists() else git
        if (common / name).exists():
            return (common / name).read_text().strip()
        packed = (common / "packed-refs").read_text().splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
    except OSError:
        return ""


def _current() -> str:
    return _of_tree(_HERE.parents[2]) or (
        _BUILT.read_text().strip() if _BUILT.exists() else f"{NEXT}.dev0"
    )


VERSION = _current()
