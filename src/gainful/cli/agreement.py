"""`gainful agreement`."""

from typing import TYPE_CHECKING, Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import check_files, leave_out_columns, listed, read_shared_options, runs_of
from gainful.cli.output import check_target, print_result
from gainful.cli.project import leave_out, set_aside

if TYPE_CHECKING:
    from gainful.output.rendering.table_formats import Table

_OF_RUNS = ("measures", "rule", "baseline", "pairs", "correction")  # in Python and here
_OF_CONCLUSIONS = ("means", "orders", "verdicts", "settle")
_TABLES = (
    "coefficients", "pairs", "leanings", "confusion", "queries", "disputed", "means", "orders", "verdicts", "settle",
)  # fmt: skip


@command("gainful agreement ann.qrels bob.qrels eve.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="FILE...")
@option.give(
    "names",
    "level",
    "resamples",
    "seed",
    {
        "--run RUN...": option.more(
            "A run, a folder of runs or a pattern; repeat for more. With two or more, also show how disagreement affects "
            "conclusions: means per assessor and for the merged grades, agreement of rankings, changed verdicts, items to settle first.",
            name="runs",
        ),
    },
    "measures",
    {
        "--rule RULE = mean": "With --run: how to merge the grades, as in `gainful merge`.",
        "--baseline NAME": "With --run: the name of the run to compare the others with.  [default: the first]",
        **option.comparison(
            pairs="With --run: the pairs of runs to compare.",
            correction="With --run: how to correct p-values for multiple comparisons.",
        ),
        "--html FILE": "With --run: write an HTML page about runs and assessors, as `gainful report --grades` does, using the merged grades.",
        f"--table [{'|'.join(_TABLES)}]": option.more(
            "Write only this table; means, orders, verdicts and settle need --run.  [default: all; coefficients in csv, tsv, jsonl]",
            name="table_name",
        ),
    },
    *option.RESULT,
    *option.MEASURING,
    level="The confidence level of the intervals.",
    resamples={"help": "The number of bootstrap resamples for the intervals.", "default": 2000},
    seed="The random seed; equal seeds give equal results.",
    measures="With --run: what to measure, such as nDCG@10; repeat for more.",
)
def agreement(files: tuple[str, ...], **options: Any) -> None:
    """Measure how well assessors agree, who grades high or low, and how that affects conclusions.

    FILE is a table with query, doc, assessor and grade. Alternatively, pass one FILE of judgments per
    assessor, or a pattern such as '*.qrels'.
    """
    set_aside(options, ["assessors"])  # it merges several assessors, and here each of them counts
    if not options["runs"]:
        _refuse_without_runs(options)
    runs = runs_of(options["runs"], options)
    read = (*files, *runs.values())
    check_files(options, *read)
    given = read_shared_options(option.MEASURING, options, *read)
    if not runs:
        given = {name: value for name, value in given.items() if name in option.READING}
    if options["html"]:
        check_target(options["html"], *read)
        gf.results.Report.check_path(options["html"])
    grades = files[0] if len(files) == 1 else files
    names = listed(options["names"])
    found = gf.judging.agreement(
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
    notes = []
    if shown is found:
        others = ", ".join(name for name in found.named_tables() if name != "coefficients")
        notes = [
            f"Only the coefficients; use --table for another table ({others}), or json for all."
        ]
    print_result(shown, options, notes)


def _chosen(found: "gf.results.Agreement", name: str | None) -> "gf.results.Agreement | Table":
    """Return the table named by --table, or the whole result."""
    tables = found.named_tables()
    if name is None or name in tables:
        return found if name is None else tables[name]
    if name in _OF_CONCLUSIONS:
        raise click.UsageError(f"--table {name} requires --run.")
    raise click.UsageError(f"--table {name} lists disputed items, but there are none.")


def _page(
    found: "gf.results.Agreement",
    grades: Any,
    names: list[str] | None,
    runs: dict[str, str],
    options: dict[str, Any],
    given: dict[str, Any],
) -> "gf.results.Report":
    """Return the report on the runs (by the merged grades) and on the assessors."""
    reading = {name: value for name, value in given.items() if name in option.READING}
    merged = gf.judging.merge_judgments(grades, options["rule"], names=names, **reading)
    measured = {name: given[name] for name in ("policy", "dialect", "chunks") if name in given}
    chosen = {name: options[name] for name in ("baseline", "pairs", "correction", "level", "seed")}
    return gf.report(merged, runs, list(options["measures"]), agreement=found, **chosen, **measured)


def _refuse_without_runs(options: dict[str, Any]) -> None:
    """Reject options that need --run; ignore the project file's settings for them."""
    of_policy = tuple(each.name for each in gf.measures.choices())
    names = (*_OF_RUNS, "html", "dialect", "chunks", "chunk_map", *of_policy)
    leave_out(options, names, "requires --run.")
    leave_out_columns(options, of="run")
