"""`gainful measures`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.options import (
    define_option,
    format_of,
    format_option,
    layout_of,
    output_option,
    use_definitions,
)
from gainful.cli.project_file import ProjectFileChoice
from gainful.cli.standard_streams import write


@click.command()
@click.argument("name", required=False)
@click.option("--subtopics", is_flag=True, help="List the measures for queries with subtopics.")
@click.option(
    "--recommend", is_flag=True, help="List the measures of recommendations beyond relevance."
)
@define_option
@format_option
@output_option
@click.pass_context
def measures(
    context: click.Context, /, name: str | None, subtopics: bool, recommend: bool, **options: Any
) -> None:
    """List the measures, or define the one that NAME says."""
    result: gf.measures.Family | tuple[gf.measures.Family, ...]
    if subtopics and recommend:
        raise click.UsageError("Give --subtopics or --recommend, not both.")
    if recommend:
        known = gf.recommending
        result = (
            known.recommendation_catalogue() if name is None else known.recommendation_family(name)
        )
    elif subtopics:
        result = (
            gf.subtopics.subtopic_catalogue()
            if name is None
            else gf.subtopics.subtopic_family(name)
        )
    else:
        result = gf.catalogue() if name is None else _family(name, context.obj)
    write(gf.writing.render(result, format_of(options), **layout_of(options)), options["output"])


def _family(name: str, choice: object) -> gf.measures.Family:
    """Return the entry of a measure; those that the project's file defines are looked at where there is no other."""
    try:
        return gf.measures.family(name)
    except gf.errors.MeasureError:
        file = choice.read() if isinstance(choice, ProjectFileChoice) else None
        if file is None:
            raise
        from gainful.cli.project_settings import read_settings  # of use only where there is one

        project = read_settings(file)
        project.refuse_untrusted(["define"])
        use_definitions(project.values.get("define", ()), project)
    return gf.measures.family(name)
