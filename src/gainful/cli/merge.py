"""`gainful merge`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    READING,
    InputFile,
    check_target,
    read_shared_options,
    refuse_other_endings,
    refuse_standard_input_twice,
    shared_options,
)
from gainful.cli.standard_streams import seen_enough, tell

_FORMATS = tuple(dict.fromkeys(gf.writing.endings(of="merged").values()))


@click.command(
    cls=ProjectCommand,
    examples=["gainful merge ann.qrels bob.qrels eve.qrels --rule median -o merged.qrels"],
)
@click.argument("files", nargs=-1, required=True, type=InputFile(), metavar="FILE...")
@click.option(
    "--rule",
    metavar="RULE",
    default="mean",
    show_default=True,
    help="How grades become one: mean; median; majority, the grade given most often; max; min; dawid-skene, the most probable grade under "
    "the confusions of grades that each assessor shows; or the name of an assessor, whose grades alone "
    "count.",
)
@click.option(
    "--ties",
    type=click.Choice(["lowest", "highest", "mean", "first"]),
    help="The one of several grades that tie with median, majority and dawid-skene; first: the grade of the first assessor, in "
    "their order, who gave one of them.  [default: mean with median, else lowest]",
)
@click.option(
    "--first",
    metavar="NAME",
    help="The assessor whose grade counts alone where they gave one; elsewhere the rule merges the "
    "others'.",
)
@click.option(
    "--weights",
    metavar="WEIGHTS",
    help="Weights of assessors for mean, median and majority: ann=2,bob=0.5.  [default: 1 each]",
)
@click.option(
    "--names",
    metavar="NAMES",
    help="Names of the assessors, one for each FILE: ann,bob.  [default: the names of the files]",
)
@click.option(
    "--format",
    "-f",
    "format_",
    type=click.Choice(_FORMATS),
    help="How the judgments are written; csv, tsv, jsonl and parquet also say of how many grades each is, and whose; "
    "json has all that is known.  [default: by the ending of --output; trec]",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write the judgments to this file instead of standard output; it is replaced when complete.",
)
@shared_options(READING)
def merge(files: tuple[str, ...], **options: Any) -> None:
    """Make one grade of those that several assessors gave to a document.

    FILE is a table with query, doc, assessor and grade. Or give several FILEs of judgments, one for
    each assessor, or a pattern such as '*.qrels'.
    """
    set_aside(options, ["assessors"])  # a rule for one file of several, where all count here
    given = read_shared_options(READING, options, *files)
    refuse_standard_input_twice(*files)
    output = options["output"]
    refuse_other_endings(output, *gf.writing.endings(of="merged"))
    check_target(output, *files)
    names, weights = options["names"], options["weights"]
    merged = gf.merge_judgments(
        files[0] if len(files) == 1 else files,
        options["rule"],
        names=None if names is None else [name.strip() for name in names.split(",")],
        weights=None if weights is None else _weights(weights),
        ties=options["ties"],
        first=options["first"],
        **given,
    )
    chosen = options["format_"] or (None if output not in (None, "-") else "trec")
    with seen_enough():
        merged.write("-" if output is None else output, format=chosen)
    for line in merged.notes:
        tell(line)


def _weights(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            equals = ""
        if not equals or name.strip() in found:
            raise click.UsageError(
                f"--weights takes assessors with numbers, such as ann=2,bob=0.5, not {text!r}."
            )
        found[name.strip()] = weight
    return found
