"""`gainful report`."""

from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.comparison_options import comparing_of, comparing_options
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    PAGE,
    InputFile,
    check_target,
    judgments_and_runs,
    judgments_option,
    measure_option,
    read_shared_options,
    refuse_missing,
    refuse_standard_input_twice,
    runs_of,
    shared_options,
    texts_options,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import tell
from gainful.message_texts import counted

_MEGABYTE = 1_000_000
_ROLES = ("query", "doc", "assessor", "grade")  # of the columns of --grades


@click.command(
    cls=ProjectCommand,
    examples=["gainful report qrels.txt bm25.run dense.run --queries queries.tsv -o report.html"],
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN [RUN]...")
@judgments_option
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FILE",
    help="The page to write; it is replaced when complete. - is standard output.",
)
@measure_option(
    "What to measure, such as 'nDCG@10 AP'; repeat for more. Charts and details begin with the first."
)
@texts_options
@click.option(
    "--grades",
    multiple=True,
    type=InputFile(),
    help="Grades of several assessors, as `gainful agreement` takes them, for a section about them: a table with "
    "query, doc, assessor and grade, or one file for each assessor; repeat for more. --columns grades.query=NAME "
    "names a column of them; without any of these, the names for judgments count where they fit.",
)
@click.option("--title", metavar="TEXT", help="The title of the page.  [default: the runs]")
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="RANK",
    help="The last rank that lists show.  [default: the cutoff of the first measure, or 20]",
)
@comparing_options
@shared_options(PAGE)
def report(files: tuple[str, ...], **options: Any) -> None:
    """Write a page about RUNs: verdict, charts, and the ranked lists of every query that matters.

    It is one file that needs no network. JUDGMENTS and RUNs are files as for `gainful evaluate`; the
    first RUN is what the others are compared with. Of one RUN, there is no comparison. Where
    --judgments or the project's file names the judgments, every file is a RUN.
    """
    target = options["output"]
    judgments, runs = judgments_and_runs(files, options)
    if judgments is None or not runs:
        refuse_missing("RUN [RUN]...", "report")
    named = runs_of(runs, options, judgments)
    if len(named) == 1:
        set_aside(options, ["slices", "by"])  # there is no comparison to slice
    read = [judgments, *named.values()]
    read += [options[name] for name in ("slices", "queries", "docs") if options[name]]
    read += options["grades"]
    refuse_standard_input_twice(*read)
    check_target(target, *read)
    gf.results.Report.check_path(target)
    given = read_shared_options(PAGE, options, *read)
    assessors = _agreement(named, options, given) if options["grades"] else None
    with progress_bar() as progress:
        found = gf.report(
            judgments,
            named,
            list(options["measures"]),
            queries=options["queries"],
            docs=options["docs"],
            title=options["title"],
            depth=options["depth"],
            agreement=assessors,
            progress=progress,
            **comparing_of(options),
            **given,
        )
    found.write(target)
    kept = found.payload()["kept"]
    detail = f"{kept['queries']} of {counted(kept['of'], 'query', 'queries')} in detail"
    size = "" if target == "-" else f"{Path(target).stat().st_size / _MEGABYTE:.1f} MB, "
    why = "" if kept["why"] is None else f" ({kept['why']})"
    tell(f"{target}: {size}{detail}{why}")


def _agreement(
    runs: dict[str, str], options: dict[str, Any], given: dict[str, Any]
) -> "gf.results.Agreement":
    """Say how far the assessors of --grades agree; with several runs, also what that does to conclusions."""
    files = options["grades"]
    grades = files[0] if len(files) == 1 else files
    asked: dict[str, Any] = {"level": options["level"], "seed": options["seed"]}
    if len(runs) > 1:
        if "-" in runs.values():
            raise click.UsageError(
                "Standard input can be read once, and --grades measures runs again: name files."
            )
        asked |= {"runs": runs, "measures": list(options["measures"])}
        asked |= {name: options[name] for name in ("baseline", "pairs", "correction")}
        measuring = ("policy", "dialect", "chunks", "engine")
        asked |= {name: given[name] for name in measuring if name in given}
    problem = None
    for columns in _columns_of_grades(given, runs=len(runs) > 1):
        try:
            return gf.agreement(grades, columns=columns, **asked)
        except gf.errors.InputError as found:
            problem = problem or found
    assert problem is not None  # noqa: S101 - there is at least one way to read them
    raise problem


def _columns_of_grades(given: dict[str, Any], *, runs: bool) -> list[dict[str, str]]:
    """Take the columns that --grades alone has out of those given; return how to read them, what is likeliest first.

    Names for judgments need not be meant for grades too, which may be files without columns.
    """
    columns: dict[str, str] = given["columns"]
    own = {key: name for key, name in columns.items() if key.startswith("grades.")}
    for key in own:
        if key.removeprefix("grades.") not in _ROLES:
            known = ", ".join(f"grades.{role}" for role in _ROLES)
            raise click.UsageError(f"--columns {key}: the columns of --grades are {known}.")
    others = {key: name for key, name in columns.items() if key not in own}
    of_assessors = ("assessor", "judgments.assessor")
    given["columns"] = {
        key: name
        for key, name in others.items()
        if key not in of_assessors or "assessors" in given  # else the grades alone have them
    }
    of_runs = {
        f"run.{role}": others[key]
        for role in ("query", "doc", "score", "rank")
        for key in (role, f"run.{role}")  # the own one counts before that of both sides
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
