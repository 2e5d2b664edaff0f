"""`gainful measures`."""

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
@click.option("--subtopics", is_flag=True, help="List the measures for queries with subtopics.")
@format_option
@output_option
def measures(name: str | None, subtopics: bool, **options: Any) -> None:
    """List the measures, or define the one that NAME says."""
    result: gf.Family | tuple[gf.Family, ...]
    if subtopics:
        result = gf.subtopic_catalogue() if name is None else gf.subtopic_family(name)
    else:
        result = gf.catalogue() if name is None else gf.family(name)
    write(gf.render(result, format_of(options), **layout_of(options)), options["output"])
