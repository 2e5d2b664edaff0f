"""`gainful sample`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    MEASURING,
    WITHOUT_NOTES,
    InputFile,
    check_target,
    format_of,
    format_option,
    layout_of,
    output_option,
    read_shared_options,
    refuse_other_endings,
    runs_of,
    seed_option,
    shared_options,
    verbose_option,
)
from gainful.cli.standard_streams import tell, write

_OF_DOCUMENTS = ("depth", "model")
_OF_QUERIES = ("strata",)


@click.command(
    cls=ProjectCommand,
    examples=["gainful sample model.qrels --size 60 --design design.json -o to_judge.csv"],
)
@click.argument("files", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--size", type=click.IntRange(1), required=True, help="How many to draw.")
@click.option(
    "--design",
    metavar="FILE",
    help="Write the design to this file (.json), which `gainful calibrate` reads: what was drawn, from what, and how.",
)
@click.option(
    "--strata",
    type=InputFile(),
    help="A table with a row for each query: draw from each of its strata by itself.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="The column of --strata. With --documents, what the strata are: query, rank or grade; repeat for more.  "
    "[default: the only column; query]",
)
@click.option(
    "--allocation",
    type=click.Choice(["proportional", "equal"]),
    default="proportional",
    show_default=True,
    help="From each stratum as its share of all, or as many from each.",
)
@click.option(
    "--documents",
    is_flag=True,
    help="Draw documents from the SOURCEs, which are runs, and not whole queries: for DCG and CG.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="RANK",
    help="With --documents: take documents down to this rank.  [default: 10]",
)
@click.option(
    "--model",
    type=InputFile(),
    help="With --documents: the judgments of a model, for --by grade.",
)
@seed_option("The same draws the same.")
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
def sample(files: tuple[str, ...], **options: Any) -> None:
    """Draw queries at random for people to judge, and keep the design.

    SOURCE has the queries: judgments, such as a model's, a run, texts of queries, or an id on each
    line. With --documents, the SOURCEs are runs, of whose documents some are drawn.
    """
    documents, design, output = options["documents"], options["design"], options["output"]
    read = [*files, *(options[name] for name in ("strata", "model") if options[name] is not None)]
    if "-" in read:
        raise click.UsageError("Standard input is not read here: name a file.")
    for target in (design, output):
        check_target(target, *read)
    refuse_other_endings(design, ".json")
    if design is not None and design == output:
        raise click.UsageError("Each output needs a file of its own.")
    format_of(options)  # says what is wrong with it before the work
    asked = {name: options[name] for name in ("size", "allocation", "seed")}
    found = _documents(files, asked, options) if documents else _queries(files, asked, options)
    if design is not None:
        found.write(design, format="json")
    write(gf.writing.render(found.table(), format_of(options), **layout_of(options)), output)
    if format_of(options) in (*WITHOUT_NOTES, "json"):
        tell(found.summary)
    if design is None:
        tell("The design is not kept: with --design FILE, `gainful calibrate` can read it.")


def _queries(
    files: tuple[str, ...], asked: dict[str, Any], options: dict[str, Any]
) -> "gf.results.SampleDesign":
    for name in _OF_DOCUMENTS:
        if options[name] is not None:
            raise click.UsageError(f"--{name} goes with --documents.")
    if len(files) > 1:
        raise click.UsageError("Queries are drawn from one SOURCE: give one file.")
    if len(options["by"]) > 1:
        raise click.UsageError("--by is one column of --strata: give it once.")
    by = options["by"][0] if options["by"] else None
    set_aside(options, ["dialect", "chunks", "chunk_map"])
    given = read_shared_options(MEASURING, options, *files)
    reading = {
        name: given[name] for name in ("columns", "engine", "queries", "assessors") if name in given
    }
    return gf.sample_queries(files[0], strata=options["strata"], by=by, **asked, **reading)


def _documents(
    files: tuple[str, ...], asked: dict[str, Any], options: dict[str, Any]
) -> "gf.results.SampleDesign":
    for name in _OF_QUERIES:
        if options[name] is not None:
            raise click.UsageError(f"--{name} is for queries: leave out --documents, or see --by.")
    if options["model"] is None:
        set_aside(options, ["assessors"])
    named = runs_of(files, options, options["model"])
    given = read_shared_options(MEASURING, options, *files)
    more = {name: options[name] for name in _OF_DOCUMENTS if options[name] is not None}
    more |= {"by": list(options["by"])} if options["by"] else {}
    return gf.judging.sample_documents(named, **asked, **more, **given)
