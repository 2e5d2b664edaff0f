"""`gainful measures`."""

from functools import partial
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.output import print_result
from gainful.cli.project import ProjectFileChoice, read_settings


@click.command()
@click.argument("name", required=False)
@option.give(
    {
        "--subtopics": "List the measures for queries with subtopics.",
        "--recommend": "List the measures for recommendations beyond relevance.",
    },
    "define",
    "format",
    "output",
)
@click.pass_context
def measures(
    context: click.Context, /, name: str | None, subtopics: bool, recommend: bool, **options: Any
) -> None:
    """List the measures, or define the measure called NAME."""
    option.refuse_conflicts("measures", {"subtopics": subtopics, "recommend": recommend})
    if recommend:
        places: Any = (
            gf.recommending.recommendation_catalogue,
            gf.recommending.recommendation_family,
        )
    elif subtopics:
        places = gf.subtopics.subtopic_catalogue, gf.subtopics.subtopic_family
    else:
        places = gf.measures.families, partial(_family, choice=context.obj)
    catalogue, entry = places
    print_result(catalogue() if name is None else entry(name), options)


def _family(name: str, choice: object) -> gf.measures.Family:
    """Return the entry of a measure: a built-in one, or else one that the project file defines."""
    try:
        return gf.measures.family(name)
    except gf.errors.MeasureError:
        file = choice.read() if isinstance(choice, ProjectFileChoice) else None
        if file is None:
            raise
        project = read_settings(file)
        project.refuse_untrusted(["define"])
        option.use_definitions(project.values.get("define", ()), project)
    return gf.measures.family(name)
