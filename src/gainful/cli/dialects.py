"""`gainful dialects`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.output import print_result


@click.command()
@click.argument("name", required=False)
@option.give("format", "output")
def dialects(name: str | None, **options: Any) -> None:
    """List the tools that --dialect reproduces, or describe one in detail."""
    chosen = gf.measures.dialects() if name is None else gf.measures.dialect(name)
    print_result(chosen, options)
