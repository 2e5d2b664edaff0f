"""The commands, each in a module of its name."""

from importlib import import_module

import click

import gainful as gf
from gainful.cli import startup_speed

# In the order of a user's work. The lines of help stand here so that a list of all commands needs
# none of them.
_COMMANDS = {
    "run": "Record a run: send queries to a search service.",
    "evaluate": "Measure one or more runs against judgments.",
    "compare": "Say whether runs are better than another, and how sure that is.",
    "leaderboard": "Rank runs, and say which cannot be told apart.",
    "report": "Write a page about runs: verdict, charts and ranked lists.",
    "explain": "Work a value out, line by line.",
    "why": "Say why two tools give different numbers, or which gives yours.",
    "check": "Look for what is wrong in judgments and runs.",
    "pool": "Say which documents to judge, and which first.",
    "judge": "Open a desk where people grade documents, in a browser.",
    "agreement": "Say how far several assessors agree.",
    "collect": "Have a model grade documents.",
    "sample": "Draw queries or documents for people to judge.",
    "calibrate": "Hold a model's grades to people's, and say what runs are worth by both.",
    "merge": "Make one grade of those of several assessors.",
    "fuse": "Make one run of several.",
    "recommend": "Measure recommendations beyond relevance: coverage, novelty, diversity.",
    "power": "Say how many queries a comparison needs.",
    "measures": "List the measures, or define one.",
    "dialects": "List the tools whose conventions --dialect takes on.",
    "conformance": "Run an implementation of nDCG, in any language, on cases with exact values.",
    "convert": "Write a run or judgments in another format.",
    "config": "Show the settings of the project, and where each comes from.",
    "help": "Tell of a topic, such as policy or formats, or all of a command.",
    "mcp": "Offer these questions as tools to a model, read-only.",
    "trec_eval": "Do what trec_eval does: its options, its output.",
}
# Those that read, measure, print and end; they start no other program.
_MEASURING = ("evaluate", "trec_eval")
# What is a command's work under another name, as in Python.
_ELSEWHERE = {"which": "gainful why --got"}


class _Commands(click.Group):
    """Commands, each in a module of its name that is imported when it is called."""

    lines = _COMMANDS

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return list(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write a line about each command, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of a name, if there is one."""
        if cmd_name not in _COMMANDS:
            return None
        name = "help_" if cmd_name == "help" else cmd_name  # as Python has a help of its own
        if cmd_name in _MEASURING:
            startup_speed.import_quickly()
        command: click.Command = getattr(import_module(f"gainful.cli.{cmd_name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, or suggest the closest."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            import difflib

            close = difflib.get_close_matches(name.casefold(), _COMMANDS, n=1)
            meant = _ELSEWHERE.get(name) or (f"gainful {close[0]}" if close else None)
            hint = "" if meant is None else f" Did you mean '{meant}'?"
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="gainful COMMAND --help tells more of each, gainful help COMMAND all, gainful help lists topics.",
)
@click.version_option(gf.__version__, message="gainful %(version)s")
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    help="Before a command: with an error, show where in the code it comes from.",
)
@click.option(
    "--config",
    metavar="FILE",
    help="Before a command: take the settings of the project from this file, not from the nearest "
    "gainful.toml.",
)
@click.option(
    "--no-config",
    is_flag=True,
    help="Before a command: take no settings from any file.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Before a command: let the project's file run code, call services and send keys, this time; "
    "`gainful config --trust` does so for good.",
)
@click.pass_context
def commands(context: click.Context, config: str | None, no_config: bool, trust: bool) -> None:
    """Measure how good rankings are."""
    if config is not None and no_config:
        raise click.UsageError("Give --config or --no-config, not both.")
    from gainful.cli.project_file import ProjectFileChoice  # which a list of commands needs not

    context.obj = ProjectFileChoice(config, no_config, trust)
