"""The command `demo`: example files, what gainful says about them, and the commands to type next."""

import shlex
from contextlib import chdir
from importlib import resources
from pathlib import Path

import click

import gainful as gf
from gainful.cli.main import print_data
from gainful.cli.option_table import GroupedCommand
from gainful.cli.project import command

_FOLDER = "gainful-demo"
_RUNS = "keyword.csv semantic.csv hybrid.csv"
_CALLED = (
    f"gainful evaluate judgments.csv {_RUNS}",
    "gainful compare judgments.csv keyword.csv hybrid.csv",
)
_NEXT = {
    "See where one query's score comes from": "gainful explain judgments.csv hybrid.csv --query apple-pie -m nDCG@5",
    "See every query in a browser": f"gainful report judgments.csv {_RUNS} --queries queries.csv "
    "--docs docs.csv -o report.html",
    "See why another tool reports another number": "gainful why judgments.csv hybrid.csv --dialects gainful,scikit-learn",
}


@command("gainful demo", "gainful demo my-folder", cls=GroupedCommand)
@click.argument("folder", default=_FOLDER, metavar="[FOLDER]")
@click.pass_context
def demo(context: click.Context, folder: str) -> None:
    """Write example files to FOLDER, evaluate and compare them, and suggest what to type next.

    The files are 20 recipe searches: results of three search engines (keyword, semantic and hybrid), and how good
    each recipe is, from 0 to 3. FOLDER is gainful-demo by default. Files that are already there are never
    overwritten, so the command can be repeated.
    """
    written = _write_files(Path(folder))
    print_data(
        f"Example files in {folder}: {', '.join(written)}.\n"
        "20 recipe searches with graded results, and what three search engines returned.\n\n"
        f"$ cd {shlex.quote(folder)}\n"
    )
    group = context.find_root().command
    with chdir(folder):
        for line in _CALLED:
            print_data(f"$ {line}\n")
            # If this folder is in a project, the project's settings are for other files.
            group.main(["--no-config", *shlex.split(line)[1:]], standalone_mode=False)
            print_data("\n")
    steps = "\n".join(f"\n{what}:\n  {line}" for what, line in _NEXT.items())
    print_data(f"Next, type `cd {shlex.quote(folder)}`, and then try:\n{steps}\n")


def _write_files(folder: Path) -> list[str]:
    """Write the example files, and return their names; reject a folder where other files have these names."""
    sources = resources.files("gainful.cli").joinpath("demo_files").iterdir()
    texts = {source.name: source.read_text(encoding="utf-8") for source in sources}
    for name, text in texts.items():
        path = folder / name
        if path.exists() and (not path.is_file() or path.read_bytes() != text.encode()):
            raise gf.errors.InputError(
                str(path),
                "no file, or that of the demo",
                "another one, which is kept",
                "Choose another folder: gainful demo FOLDER",
            )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        gf.writing.write_text(text, str(folder / name))
    return sorted(texts)
