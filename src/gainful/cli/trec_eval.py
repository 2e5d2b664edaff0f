"""`gainful trec_eval`."""

import sys

import click

import gainful as gf


@click.command(
    name="trec_eval",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
    options_metavar="[trec_eval's options]",
)
@click.argument("arguments", metavar="QRELS RUN", nargs=-1, type=click.UNPROCESSED)
def trec_eval(arguments: tuple[str, ...]) -> None:
    """Do what trec_eval does: its options, its output."""
    printed = gf.compat.trec_eval(arguments)
    # As bytes: ids need not be UTF-8, and may hold what a terminal takes for a command.
    click.echo(printed.output.encode(errors="surrogateescape"), nl=False)
    click.echo(printed.error.encode(errors="surrogateescape"), nl=False, err=True)
    sys.exit(printed.code)
