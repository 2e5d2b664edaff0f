"""`gainful conformance`: whether somebody's implementation of nDCG gives the values of the vectors."""

import json
import sys
from typing import Any

import click

import gainful as gf
from gainful.cli.grouped_help import GroupedCommand
from gainful.cli.options import WITHOUT_NOTES, format_of, format_option, layout_of, output_option
from gainful.cli.standard_streams import print_data, tell, write

_FAILED = 1


@click.command(
    cls=GroupedCommand,
    # What follows the name of the program is the program's own.
    context_settings={"allow_interspersed_args": False},
    examples=[
        "gainful conformance python3 my_ndcg.py",
        "gainful conformance --topic definition --topic ties python3 my_ndcg.py",
        "gainful conformance --dialect scikit-learn python3 my_ndcg.py",
        "gainful conformance --print --topic ties",
    ],
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND [ARGUMENT]...")
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="NAME",
    help="Take the cases of this file alone, such as definition or ties; may be repeated.",
)
@click.option("--dialect", metavar="TOOL", help="Take the cases of this tool alone.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1, max_open=True),
    default=1e-9,
    show_default=True,
    help="How far a value may be off, relative to it where it is above 1. Take 1e-6 for single precision.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, 86400, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="The time after which the command is ended.",
)
@click.option(
    "--one-by-one",
    is_flag=True,
    help="Start the command for each case, which it gets alone. What breaks off is a failure then.",
)
@click.option(
    "--print",
    "print_",
    is_flag=True,
    help="Print the cases as they are sent, one a line, and run nothing.",
)
@format_option
@output_option
def conformance(command: tuple[str, ...], topics: tuple[str, ...], **options: Any) -> None:
    """Run COMMAND, an implementation of nDCG in any language, on cases with exact values.

    COMMAND reads a case from each line of standard input, as JSON, and prints a line for each, in any
    order: {"id": "golden", "value": 0.475}. It says "value": null where the value is undefined. In
    place of "value", it says "error": "reason" where it refuses the case, and "skip": "reason" where it
    does not do such cases.

    Every failure is shown with what it looks like: another choice, such as gain=exp2, the way of a tool, or
    a usual slip. Exit 0 if no case fails, 1 if some do or all are skipped, 2 if the command cannot be run or breaks off.
    vectors/README.md defines the cases.
    """
    format_of(options)  # says what is wrong with it before the work
    chosen = {"topics": topics or None, "dialect": options["dialect"]}
    if options["print_"]:
        if command:
            raise click.UsageError("--print runs nothing: leave COMMAND out.")
        lines = [
            json.dumps(each.asked(), ensure_ascii=False) for each in gf.vectors.cases(**chosen)
        ]
        print_data("".join(f"{line}\n" for line in lines))
        return
    if not command:
        raise click.UsageError("Expected COMMAND, such as: gainful conformance python3 my_ndcg.py")
    found = gf.vectors.conformance_of_command(
        command,
        **chosen,
        tolerance=options["tolerance"],
        timeout=options["timeout"],
        one_by_one=options["one_by_one"],
    )
    write(gf.writing.render(found, format_of(options), **layout_of(options)), options["output"])
    if format_of(options) in WITHOUT_NOTES:  # the others carry it themselves
        tell(found.summary)
    if not found.conforms:
        sys.exit(_FAILED)
