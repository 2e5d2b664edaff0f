"""`gainful agreement`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import is_typed, set_aside
from gainful.cli.options import (
    MEASURING,
    READING,
    WITHOUT_NOTES,
    Command,
    InputFile,
    check_target,
    format_of,
    format_option,
    layout_of,
    leave_out_columns,
    level_option,
    measure_option,
    output_option,
    read_shared_options,
    refuse_standard_input_twice,
    resamples_option,
    runs_of,
    seed_option,
    shared_options,
    verbose_option,
)
from gainful.cli.standard_streams import tell, write

if TYPE_CHECKING:
    from gainful.rendering.table_formats import Table

_CHOICES = gf.comparison.comparison_choices()
_OF_RUNS = ("measures", "rule", "baseline", "pairs", "correction")  # in Python and here
_OF_PAGE = ("html",)
_OF_CONCLUSIONS = ("means", "orders", "verdicts", "settle")
_TABLES = (
    "coefficients", "pairs", "leanings", "confusion", "queries", "disputed", "means", "orders", "verdicts", "settle",
)  # fmt: skip


def _choice(name: str, meaning: str) -> Callable[[Command], Command]:
    meanings = "; ".join(f"{choice}: {told}" for choice, told in _CHOICES[name].items())
    return click.option(
        f"--{name}",
        type=click.Choice(list(_CHOICES[name])),
        default=next(iter(_CHOICES[name])),
        show_default=True,
        help=f"With --run: {meaning} {meanings}.",
    )


@click.command(cls=ProjectCommand, examples=["gainful agreement ann.qrels bob.qrels eve.qrels"])
@click.argument("files", nargs=-1, required=True, type=InputFile(), metavar="FILE...")
@click.option(
    "--names",
    metavar="NAMES",
    help="Names of the assessors, one for each FILE: ann,bob.  [default: the names of the files]",
)
@level_option("The level of the intervals.")
@resamples_option("How many resamples of the items the intervals are from.", 2000)
@seed_option("The same gives the same.")
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A run, a folder of them or a pattern; repeat for more. With two or more, say what disagreement does to "
    "conclusions about them: the means of each under each assessor and under the merged grades, how far the "
    "orders agree, which verdicts change with the assessor, and which items to settle first.",
)
@measure_option("With --run: what to measure, such as nDCG@10; repeat for more.")
@click.option(
    "--rule",
    metavar="RULE",
    default="mean",
    show_default=True,
    help="With --run: how grades are merged, as in `gainful merge`.",
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="With --run: the name of the run that the others are compared with.  [default: the first]",
)
@_choice("pairs", "the runs that are compared with each other.")
@_choice("correction", "the correction of p for the number of comparisons.")
@click.option(
    "--html",
    metavar="FILE",
    help="With --run: write a page about runs and assessors, as `gainful report --grades` does; its judgments are the "
    "merged grades.",
)
@click.option(
    "--table",
    "table_name",
    type=click.Choice(_TABLES),
    help="Write this table alone. means, orders, verdicts and settle go with --run.  [default: all; coefficients in "
    "csv, tsv, jsonl and parquet, which have room for one]",
)
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
def agreement(files: tuple[str, ...], **options: Any) -> None:
    """Say how far several assessors agree, who leans high or low, and what that does to conclusions.

    FILE is a table with query, doc, assessor and grade. Or give several FILEs of judgments, one for
    each assessor, or a pattern such as '*.qrels'.
    """
    set_aside(options, ["assessors"])  # a rule for one file of several, where all count here
    if not options["runs"]:
        _refuse_without_runs(options)
    runs = runs_of(options["runs"], options)
    read = (*files, *runs.values())
    refuse_standard_input_twice(*read)
    given = read_shared_options(MEASURING, options, *read)
    if not runs:
        given = {name: value for name, value in given.items() if name in READING}
    check_target(options["output"], *read)
    if options["html"]:
        check_target(options["html"], *read)
        gf.results.Report.check_path(options["html"])
    format_of(options)  # says what is wrong with it before the work
    grades = files[0] if len(files) == 1 else files
    names = options["names"]
    names = None if names is None else [name.strip() for name in names.split(",")]
    found = gf.agreement(
        grades,
        names=names,
        level=options["level"],
        resamples=options["resamples"],
        seed=options["seed"],
        **({"runs": runs, **{name: options[name] for name in _OF_RUNS}} if runs else {}),
        **given,
    )
    if options["html"]:
        _page(found, grades, names, runs, options, given).write(options["html"])
    shown = _chosen(found, options["table_name"])
    write(gf.writing.render(shown, format_of(options), **layout_of(options)), options["output"])
    if shown is found and format_of(options) in WITHOUT_NOTES:
        others = ", ".join(name for name in found.named_tables() if name != "coefficients")
        tell(f"The coefficients alone; --table has one of the others ({others}), json all.")


def _chosen(found: "gf.results.Agreement", name: str | None) -> "gf.results.Agreement | Table":
    """Return the table that is asked for, or the whole."""
    if name is None:
        return found
    tables = found.named_tables()
    if name not in tables:
        needs = (
            "goes with --run"
            if name in _OF_CONCLUSIONS
            else "is of items that are disputed, and none is"
        )
        raise click.UsageError(f"--table {name} {needs}.")
    return tables[name]


def _page(
    found: "gf.results.Agreement",
    grades: Any,
    names: list[str] | None,
    runs: dict[str, str],
    options: dict[str, Any],
    given: dict[str, Any],
) -> "gf.results.Report":
    """Return the page about runs by the merged grades, and about the assessors."""
    reading = {name: value for name, value in given.items() if name in READING}
    merged = gf.merge_judgments(grades, options["rule"], names=names, **reading)
    measured = {name: given[name] for name in ("policy", "dialect", "chunks") if name in given}
    chosen = {name: options[name] for name in ("baseline", "pairs", "correction", "level", "seed")}
    return gf.report(merged, runs, list(options["measures"]), agreement=found, **chosen, **measured)


def _refuse_without_runs(options: dict[str, Any]) -> None:
    """Refuse what has a meaning with --run alone; what the project's file says of it is left out."""
    of_policy = tuple(each.name for each in gf.measures.choices())
    names = (*_OF_RUNS, *_OF_PAGE, "dialect", "chunks", "chunk_map", *of_policy)
    for name in names:
        if is_typed(name):
            option = "measure" if name == "measures" else name.replace("_", "-")
            raise click.UsageError(f"--{option} goes with --run.")
    set_aside(options, names)
    leave_out_columns(options, of="run")
