"""`gainful report`."""

from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import (
    comparing_of,
    judged_runs,
    read_shared_options,
    refuse_standard_input_twice,
)
from gainful.cli.output import check_target
from gainful.cli.process import progress_bar, tell
from gainful.cli.project import set_aside
from gainful.message_texts import counted

_MEGABYTE = 1_000_000
_ROLES = ("query", "doc", "assessor", "grade")  # the columns of --grades


@command("gainful report qrels.txt bm25.run dense.run --queries queries.tsv -o report.html")
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN [RUN]...")
@option.give(
    "judgments",
    "output",
    "measures",
    "texts",
    {
        "--grades INPUT...": "Grades of several assessors, for a section about them: a table with query, doc, assessor and grade, or one file per "
        "assessor; repeat for more. --columns grades.query=NAME names a column; otherwise the judgments' column names are used if they fit.",
        "--title TEXT": "The title of the page.  [default: the names of the runs]",
        "--depth RANK>=1": "The last rank that the lists show.  [default: the cutoff of the first measure, or 20]",
    },
    "comparing",
    *option.PAGE,
    output={
        "required": True,
        "help": "The page to write; an existing file is replaced once the page is complete. - is standard output.",
    },
    measures="What to measure, such as 'nDCG@10 AP'; repeat for more. Charts and details show the first one at first.",
)
def report(files: tuple[str, ...], **options: Any) -> None:
    """Write an HTML page about RUNs: verdict, charts, and the ranked lists of every query that matters.

    The page is a single file that works offline. JUDGMENTS and RUNs are files as for `gainful evaluate`;
    the first RUN is the baseline of the others. With a single RUN, the page has no comparison. If
    --judgments or the project file names the judgments, every file is a RUN.
    """
    target = options["output"]
    judgments, runs = judged_runs(files, options)
    if len(runs) == 1:
        set_aside(options, ["slices", "by"])  # without a comparison, there is nothing to slice
    texts = {name: options[name] for name in ("queries", "docs")}
    read = (judgments, *runs.values(), options["slices"], *texts.values(), *options["grades"])
    refuse_standard_input_twice(*read)
    check_target(target, *read)
    gf.results.Report.check_path(target)
    shared = read_shared_options(option.PAGE, options, *read)
    assessors = _agreement(runs, options, shared) if options["grades"] else None
    chosen = texts | {name: options[name] for name in ("title", "depth")} | comparing_of(options)
    measures = list(options["measures"])
    with progress_bar() as progress:
        found = gf.report(
            judgments, runs, measures, agreement=assessors, progress=progress, **chosen, **shared
        )
    found.write(target)
    kept = found.payload()["kept"]
    detail = f"{kept['queries']} of {counted(kept['of'], 'query', 'queries')} in detail"
    size = "" if target == "-" else f"{Path(target).stat().st_size / _MEGABYTE:.1f} MB, "
    why = "" if kept["why"] is None else f" ({kept['why']})"
    tell(f"{target}: {size}{detail}{why}")


def _agreement(
    runs: dict[str, str], options: dict[str, Any], shared: dict[str, Any]
) -> "gf.results.Agreement":
    """Return the agreement of the assessors of --grades; with several runs, also its effect on conclusions."""
    files = options["grades"]
    grades = files[0] if len(files) == 1 else files
    chosen: dict[str, Any] = {"level": options["level"], "seed": options["seed"]}
    if len(runs) > 1:
        if "-" in runs.values():
            raise click.UsageError(
                "--grades reads the runs twice, so none of them can be standard input: pass files."
            )
        chosen |= {"runs": runs, "measures": list(options["measures"])}
        chosen |= {name: options[name] for name in ("baseline", "pairs", "correction")}
        measuring = ("policy", "dialect", "chunks", "engine")
        chosen |= {name: shared[name] for name in measuring if name in shared}
    problems = []
    for columns in _columns_of_grades(shared, runs=len(runs) > 1):
        try:
            return gf.judging.agreement(grades, columns=columns, **chosen)
        except gf.errors.InputError as problem:
            problems.append(problem)
    raise problems[0]


def _columns_of_grades(shared: dict[str, Any], *, runs: bool) -> list[dict[str, str]]:
    """Take the columns of --grades out of the shared columns; return ways to read them, the likeliest first.

    The column names of the judgments may not apply to the grades, which may be files without columns.
    """
    columns: dict[str, str] = shared["columns"]
    own = {key: name for key, name in columns.items() if key.startswith("grades.")}
    for key in own:
        if key.removeprefix("grades.") not in _ROLES:
            known = ", ".join(f"grades.{role}" for role in _ROLES)
            raise click.UsageError(f"--columns {key}: the columns of --grades are {known}.")
    others = {key: name for key, name in columns.items() if key not in own}
    of_assessors = ("assessor", "judgments.assessor")
    shared["columns"] = {
        key: name
        for key, name in others.items()
        if key not in of_assessors or "assessors" in shared  # otherwise only the grades have them
    }
    of_runs = {
        f"run.{role}": others[key]
        for role in ("query", "doc", "score", "rank")
        for key in (role, f"run.{role}")  # run.query overrides query
        if runs and key in others
    }
    if own:
        named = {f"judgments.{key.removeprefix('grades.')}": name for key, name in own.items()}
        return [named | of_runs, named]
    both = {
        key: name
        for key, name in others.items()
        if runs or (not key.startswith("run.") and key not in ("score", "rank"))
    }
    return [both, of_runs, {}]
