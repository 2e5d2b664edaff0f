"""`gainful trec_eval`: passes its arguments to `compat.trec_eval`, which does the work."""

import sys

import click

import gainful as gf
from gainful.cli.main import keep_imports, print_data, print_error


@click.command(
    name="trec_eval",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
    options_metavar="[trec_eval's options]",
)
@click.argument("arguments", metavar="QRELS RUN", nargs=-1, type=click.UNPROCESSED)
def trec_eval(arguments: tuple[str, ...]) -> None:
    """Work like trec_eval: same options, same output."""
    answer = gf.compat.trec_eval
    keep_imports()
    printed = answer(arguments)
    print_data(printed.output)
    print_error(printed.error)
    sys.exit(printed.code)
