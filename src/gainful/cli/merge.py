"""`gainful merge`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import listed, pairs, read_shared_options, refuse_standard_input_twice
from gainful.cli.output import check_target, refuse_other_endings, write_documents
from gainful.cli.process import tell
from gainful.cli.project import set_aside

_FORMATS = tuple(dict.fromkeys(gf.writing.endings(of="merged").values()))


@command("gainful merge ann.qrels bob.qrels eve.qrels --rule median -o merged.qrels")
@click.argument("files", nargs=-1, required=True, type=option.InputFile(), metavar="FILE...")
@option.give(
    {
        "--rule RULE = mean": "How to merge grades: mean; median; majority, the most frequent grade; max; min; dawid-skene, the most probable grade given "
        "each assessor's confusions; or the name of an assessor, to use only their grades.",
        "--ties [lowest|highest|mean|first]": "The tied grade that wins with median, majority or dawid-skene; first: the grade of the first assessor who gave one of them.  "
        "[default: mean with median, otherwise lowest]",
        "--first NAME": "The assessor whose grades take precedence; for documents that this assessor did not grade, the rule merges the other grades.",
        "--weights WEIGHTS": "Weights of assessors for mean, median and majority: ann=2,bob=0.5.  [default: 1 each]",
    },
    "names",
    {
        f"--format, -f [{'|'.join(_FORMATS)}]": "The output format; csv, tsv, jsonl and parquet also list how many grades were merged, and whose; json contains "
        "everything.  [default: by the extension of --output; trec]",
    },
    "output",
    *option.READING,
    output="Write the judgments to this file instead of standard output; it is replaced when complete.",
)
def merge(files: tuple[str, ...], **options: Any) -> None:
    """Merge the grades that several assessors gave to a document into one.

    FILE is a table with query, doc, assessor and grade. Alternatively, pass one FILE of judgments per
    assessor, or a pattern such as '*.qrels'.
    """
    set_aside(options, ["assessors"])  # --rule has the same meaning here
    shared = read_shared_options(option.READING, options, *files)
    refuse_standard_input_twice(*files)
    refuse_other_endings(options["output"], *gf.writing.endings(of="merged"))
    check_target(options["output"], *files)
    weights = options["weights"]
    merged = gf.judging.merge_judgments(
        files[0] if len(files) == 1 else files,
        options["rule"],
        names=listed(options["names"]),
        weights=None if weights is None else _weights(weights),
        ties=options["ties"],
        first=options["first"],
        **shared,
    )
    write_documents(merged, options, options["format"])
    for line in merged.notes:
        tell(line)


def _weights(text: str) -> dict[str, float]:
    example = "assessors with numbers, such as ann=2,bob=0.5"
    named = pairs("--weights", text.split(","), example, str.rpartition)
    try:
        return {name: float(number) for name, number in named.items()}
    except ValueError:
        raise click.UsageError(f"--weights expects {example}, not {text!r}.") from None
