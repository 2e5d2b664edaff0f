"""`gainful conformance`: test an implementation of nDCG against the exact values of the vectors."""

import json
import sys
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import GroupedCommand
from gainful.cli.command import command as declare
from gainful.cli.output import format_of, print_result
from gainful.cli.process import print_data

_FAILED = 1


@declare(
    "gainful conformance python3 my_ndcg.py",
    "gainful conformance --topic definition --topic ties python3 my_ndcg.py",
    "gainful conformance --dialect scikit-learn python3 my_ndcg.py",
    "gainful conformance --print --topic ties",
    context_settings={"allow_interspersed_args": False},
    cls=GroupedCommand,
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND [ARGUMENT]...")
@option.give(
    {
        "--topic NAME...": option.more(
            "Use only the cases of this topic, such as definition or ties; repeat for more.",
            name="topics",
        ),
        "--dialect TOOL": "Use only the cases of this tool.",
        "--tolerance >=0.0<1.0 = 1e-9": "The permitted error: absolute up to a value of 1, relative above. Use 1e-6 for single precision.",
        "--timeout SECONDS>0.0<=86400.0 = 60.0": "Stop the command after this time.",
        "--one-by-one": "Start the command once per case. A crash then counts as one failure.",
        "--print": "Print the cases as they would be sent, one per line, and run nothing.",
    },
    "format",
    "output",
)
def conformance(command: tuple[str, ...], topics: tuple[str, ...], **options: Any) -> None:
    """Test COMMAND, an nDCG implementation in any language, on cases with exact values.

    COMMAND reads one case per line from standard input, as JSON, and prints one line per case, in any
    order: {"id": "golden", "value": 0.475}. It prints "value": null if the value is undefined. Instead of
    "value", it prints "error": "reason" to reject a case, and "skip": "reason" if it doesn't support
    such cases.

    Every failure comes with a likely cause: another choice, such as gain=exp2, the behaviour of a tool, or
    a common mistake. Exit 0 if no case fails, 1 if some fail or all are skipped, 2 if the command cannot be run or
    crashes. vectors/README.md defines the cases.
    """
    format_of(options)  # reports a wrong format before the work
    chosen = {"topics": topics or None, "dialect": options["dialect"]}
    if options["print"]:
        if command:
            raise click.UsageError("--print runs nothing: leave out COMMAND.")
        cases = gf.vectors.cases(**chosen)
        print_data("".join(f"{json.dumps(each.asked(), ensure_ascii=False)}\n" for each in cases))
        return
    if not command:
        raise click.UsageError("Expected COMMAND, such as: gainful conformance python3 my_ndcg.py")
    limits = {name: options[name] for name in ("tolerance", "timeout", "one_by_one")}
    found = gf.vectors.conformance_of_command(command, **chosen, **limits)
    print_result(found, options, [found.summary])
    if not found.conforms:
        sys.exit(_FAILED)
