"""`gainful agreement`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.options import (
    READING,
    InputFile,
    check_target,
    format_of,
    format_option,
    layout_of,
    output_option,
    read_shared_options,
    refuse_standard_input_twice,
    shared_options,
    verbose_option,
)
from gainful.cli.project_command import ProjectCommand
from gainful.cli.standard_streams import write


@click.command(
    cls=ProjectCommand, epilog="Example: gainful agreement ann.qrels bob.qrels eve.qrels"
)
@click.argument("files", nargs=-1, required=True, type=InputFile(), metavar="FILE...")
@click.option(
    "--names",
    metavar="NAMES",
    help="Names of the assessors, one for each FILE: ann,bob.  [default: the names of the files]",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The level of the intervals.",
)
@click.option(
    "--resamples",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="How many resamples of the items the intervals are from.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same gives the same."
)
@format_option
@output_option
@verbose_option
@shared_options(READING)
def agreement(files: tuple[str, ...], **options: Any) -> None:
    """Say how far several assessors agree, and who leans high or low.

    FILE is a table with query, doc, assessor and grade; or give several FILEs of judgments, one for
    each assessor.
    """
    given = read_shared_options(READING, options, *files)
    refuse_standard_input_twice(*files)
    check_target(options["output"], *files)
    format_of(options)  # says what is wrong with it before the work
    names = options["names"]
    found = gf.agreement(
        files[0] if len(files) == 1 else files,
        names=None if names is None else [name.strip() for name in names.split(",")],
        level=options["level"],
        resamples=options["resamples"],
        seed=options["seed"],
        **given,
    )
    write(gf.writing.render(found, format_of(options), **layout_of(options)), options["output"])
