"""`gainful power`."""

from dataclasses import replace
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import judged_runs, read_shared_options
from gainful.cli.output import ROWS, check_target, format_of, print_result
from gainful.cli.process import progress_bar
from gainful.cli.project import is_typed, set_aside


@command("gainful power --sd 0.18 --difference 0.02")
@click.argument("files", nargs=-1, metavar="[[JUDGMENTS] BASE RUN]")
@option.give(
    "judgments",
    {
        "--sd >0.0": "The standard deviation of the per-query differences between two runs; computed from BASE and RUN if given.",
        "--difference >0.0": "The difference in the measure that the comparison should detect.",
        "--queries >=2": "The number of queries available.",
        "--power >0.0<1.0": "The probability of detecting the difference.  [default: 0.8]",
        "--alpha >0.0<1.0 = 0.05": "The probability of detecting a difference that does not exist.",
    },
    "measure",
    *option.RESULT,
    *option.MEASURING,
    measure="The measure to compare BASE and RUN by.  [default: nDCG@10]",
)
def power(files: tuple[str, ...], **options: Any) -> None:
    """Compute how many queries a comparison needs, or what it can detect with the queries it has.

    Pass --difference to compute the number of queries, --queries to compute the smallest detectable
    difference, or both to compute the power.
    """
    sd, basis, names = options["sd"], list[str](), ("base", "run")
    if not files and not is_typed("judgments"):
        set_aside(options)  # no files are read
        judgments, runs = options.pop("judgments"), dict[str, str]()
    else:
        judgments, runs = judged_runs(files, options, fewest=len(names), most=len(names))
        if sd is not None:
            raise click.UsageError("Pass JUDGMENTS BASE RUN or --sd, not both.")
        check_target(options["output"], judgments, *runs.values())
    shared = read_shared_options(option.MEASURING, options, judgments, *runs.values())
    format_of(options)  # reports a wrong format before the work
    if judgments is not None:
        both = dict(zip(names, runs.values(), strict=True))
        with progress_bar() as progress:
            found = gf.compare(
                judgments, both, options["measure"] or "nDCG@10", progress=progress, **shared
            )
        one = found.differences[0]
        sd = one.sd
        basis = [f"sd of the differences in {one.measure} over {one.queries} queries", *found.basis]
        if not sd:
            found_instead = "one query" if sd is None else "the same difference on all queries"
            raise gf.errors.InputError(
                "power", "runs that differ from query to query", found_instead
            )
    if sd is None:
        raise click.UsageError("Pass --sd, or JUDGMENTS BASE RUN to compute it from.")
    asked = {name: options[name] for name in ("difference", "queries", "alpha")}
    solved = gf.power(sd=sd, power=options["power"], **asked)
    table = solved.table()
    noted = replace(table, notes=[*table.notes, *basis])
    print_result(noted, options, basis, bare=ROWS)
