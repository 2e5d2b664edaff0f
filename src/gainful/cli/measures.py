"""`gainful measures`."""

import click

import gainful as gf
from gainful.cli.options import format_option, output_option, write


@click.command()
@click.argument("name", required=False)
@format_option
@output_option
def measures(name: str | None, format_: str, output: str | None) -> None:
    """List the measures, or define the one that NAME says."""
    result = gf.catalogue() if name is None else gf.measure(name).family
    write(gf.render(result, format_), output)
