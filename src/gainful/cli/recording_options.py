"""Options that say which search service is recorded, and how; a project's file may set them in its table [run]."""

import click

from gainful.cli.options import Command, InputFile

_ENGINES = (
    "elasticsearch", "opensearch", "solr", "vespa", "typesense", "meilisearch", "algolia", "qdrant", "postgresql",
)  # fmt: skip


def recording_options(command: Command) -> Command:
    """Give a command an option for each choice of a recording."""
    options = (
        click.option(
            "--engine",
            type=click.Choice(_ENGINES),
            help="What is behind --url: its path, template, ids and scores are known.",
        ),
        click.option(
            "--url",
            metavar="URL",
            help="The address of the service, such as http://localhost:9200/articles; {query}, {depth} and {id} in "
            "it are filled in, and ${NAME} from the environment.",
        ),
        click.option(
            "--template",
            type=InputFile(),
            help="What is sent: a file of JSON with {query}, {depth}, {id} and {vector} in its texts; for "
            "postgresql, SQL with %(query)s and %(depth)s.  [default: the engine's]",
        ),
        click.option(
            "--ids",
            metavar="PATH",
            help="Where the answer has the ids, such as hits[*].id.  [default: the engine's]",
        ),
        click.option(
            "--scores",
            metavar="PATH",
            help="Where the answer has the scores, such as hits[*].score.  [default: the engine's; else by rank]",
        ),
        click.option(
            "--method",
            type=click.Choice(["GET", "POST"]),
            help="How it is sent.  [default: the engine's; POST with --template, else GET]",
        ),
        click.option(
            "--header",
            "headers",
            multiple=True,
            metavar="NAME:VALUE",
            help="One more header; ${NAME} in it is filled in from the environment; repeat for more.",
        ),
        click.option(
            "--key-variable",
            metavar="NAME",
            help="The environment variable that has the key; opensearch: user:password; postgresql: the password. The "
            "key is written nowhere.",
        ),
        click.option(
            "--embed",
            metavar="MODULE:NAME",
            help="A function of Python from a query to its vector, for {vector}.",
        ),
        click.option(
            "--call",
            metavar="MODULE:NAME",
            help="A function of Python instead, from a query to ids, or to pairs of id and score; the module lies in this folder.",
        ),
        click.option(
            "--command",
            metavar="WORDS",
            help="A command instead, called for each query with {query} and {depth} in its words, or the query on "
            "standard input; it prints an id on each line, and after a tab its score; with --ids, JSON.",
        ),
        click.option(
            "--depth",
            type=click.IntRange(1),
            default=100,
            show_default=True,
            metavar="NUMBER",
            help="The most documents of a query.",
        ),
        click.option(
            "--concurrency",
            type=click.IntRange(1),
            metavar="NUMBER",
            help="Calls at a time.  [default: 8; 1 with --call]",
        ),
        click.option(
            "--per-second",
            type=click.FloatRange(0, min_open=True),
            metavar="NUMBER",
            help="The most calls a second.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
            help="When an answer must be there.  [default: 30; none with --call]",
        ),
        click.option(
            "--retries",
            type=click.IntRange(0),
            metavar="NUMBER",
            help="How often a call that failed is tried again, after 1, 2, 4, … seconds.  [default: 3; 0 with --call]",
        ),
        click.option(
            "--failed",
            type=click.Choice(["error", "leave-out"]),
            default="error",
            show_default=True,
            help="Where a query has no answer: error, and no run is written; leave-out: write the run without it.",
        ),
        click.option(
            "--tag",
            metavar="WORD",
            help="The name of the run; each row of the file has it with the request's hash.  [default: the engine's]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
