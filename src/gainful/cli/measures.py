"""`gainful measures`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.options import format_of, format_option, output_option, write


@click.command()
@click.argument("name", required=False)
@format_option
@output_option
def measures(name: str | None, **options: Any) -> None:
    """List the measures, or define the one that NAME says."""
    result = gf.catalogue() if name is None else gf.measure(name).family
    write(gf.render(result, format_of(options)), options["output"])
