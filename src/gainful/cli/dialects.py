"""`gainful dialects`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.options import (
    format_of,
    format_option,
    layout_of,
    output_option,
)
from gainful.cli.standard_streams import write


@click.command()
@click.argument("name", required=False)
@format_option
@output_option
def dialects(name: str | None, **options: Any) -> None:
    """List the tools whose conventions --dialect takes on, or tell all about one."""
    chosen = gf.dialects() if name is None else gf.dialect(name)
    write(gf.writing.render(chosen, format_of(options), **layout_of(options)), options["output"])
