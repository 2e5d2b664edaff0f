"""The group of all commands, which are imported when they are called."""

import gc
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, ClassVar, cast

import click

import gainful as gf
from gainful.message_texts import closest

# The module of each command, and its line in the help; listing the commands imports none of them.
_GROUPS = {
    "Start": {
        "demo": ("demo", "Try gainful on example files, which it writes to a folder."),
        "check": ("explaining", "Check judgments and runs for errors and likely mistakes."),
        "evaluate": ("evaluate", "Measure one or more runs against judgments."),
        "compare": (
            "comparing",
            "Test whether runs differ from a baseline, and how certain that is.",
        ),
        "report": ("making", "Write an HTML page about runs: verdict, charts, ranked lists."),
        "explain": ("explaining", "Show the arithmetic behind a value, line by line."),
    },
    "Decide": {
        "leaderboard": ("comparing", "Rank many runs, with the uncertainty of each rank."),
        "history": ("recording", "Keep scores over time, and show which changes are real."),
        "watch": ("recording", "Measure on a schedule: add to a history, check, and notify."),
        "similar": (
            "comparing",
            "Measure how similar runs are, or how similarly measures order them.",
        ),
        "power": ("explaining", "Compute how many queries a comparison needs."),
        "why": ("explaining", "Explain why two tools differ, or find the tool behind a number."),
    },
    "Judge": {
        "pool": ("judging", "List the documents to judge, most useful first."),
        "judge": ("judging", "Open the judging desk, where people grade documents."),
        "agreement": ("judging", "Measure how well assessors agree."),
        "collect": ("judging", "Collect grades from a model."),
        "sample": ("judging", "Draw a random sample of queries or documents to judge."),
        "calibrate": ("comparing", "Correct a model's grades with a sample that people graded."),
        "clicks": (
            "clicks",
            "Turn a click log into judgments, and answer other questions about it.",
        ),
        "merge": ("judging", "Merge several assessors' grades into one."),
    },
    "Make and convert": {
        "run": ("recording", "Record a run by sending queries to a search service."),
        "fuse": ("making", "Fuse several runs into one."),
        "recommend": ("making", "Measure coverage, novelty and diversity of recommendations."),
        "convert": ("making", "Convert runs or judgments to another format."),
        "sql": ("making", "Write a measure as a SQL query for your database."),
    },
    "Look up": {
        "measures": ("look_up", "List the measures, or show the definition of one."),
        "dialects": ("look_up", "List the tools that --dialect reproduces."),
        "conformance": ("look_up", "Test an nDCG implementation, in any language, on exact cases."),
        "config": ("look_up", "Show the project settings and their origins."),
        "completion": ("look_up", "Print the script for tab completion in bash, zsh or fish."),
        "help": ("look_up", "Show help on a topic, or the full help for a command."),
        "mcp": ("look_up", "Run an MCP server so an LLM can call gainful (read-only)."),
        "trec_eval": ("trec_eval", "Work like trec_eval: same options, same output."),
    },
}
_NO_BREAK = "\u2011"  # a hyphen at which no line is broken
_COMMANDS = {name: entry for group in _GROUPS.values() for name, entry in group.items()}
# These read, measure, print and exit; they start no other program.
_MEASURING = ("evaluate", "trec_eval")
# Names from Python whose work another command does.
_ELSEWHERE = {"which": "gainful why --got"}


_FIRST_SCREEN = """\
gainful measures how good rankings are. To try it on example files: gainful demo
With your own files:                    gainful evaluate JUDGMENTS RUN

{commands}
Run gainful COMMAND --help for the main options of a command, gainful help for
topics such as formats and policy, and gainful --help for general options."""


class _Formatter(click.HelpFormatter):
    """Writes help without breaking words such as --save-baseline at their hyphens."""

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **options: Any) -> None:
        """Write names and their meanings."""
        whole = [(name, meaning.replace("-", _NO_BREAK)) for name, meaning in rows]
        super().write_dl(whole, *args, **options)

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(text.replace("-", _NO_BREAK))

    def getvalue(self) -> str:
        """Return all of the help."""
        return super().getvalue().replace(_NO_BREAK, "-")


click.Context.formatter_class = _Formatter


class _Commands(click.Group):
    """Commands, each imported only when it is called."""

    lines: ClassVar = {name: line for name, (_, line) in _COMMANDS.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return list(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write one line per command, in groups, without importing any of them."""
        longest = max(map(len, _COMMANDS))
        for title, names in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), self.lines[name]) for name in names])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command with this name, or None."""
        if cmd_name not in _COMMANDS:
            return None
        name = "help_" if cmd_name == "help" else cmd_name  # Python has a built-in help
        if cmd_name in _MEASURING:
            import_quickly()
        module = import_module(f"gainful.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command to call, or suggest the closest name."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            close = closest(name, _COMMANDS)
            meant = _ELSEWHERE.get(name) or (close and f"gainful {close}")
            hint = f" Did you mean '{meant}'?" if meant else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


def _before(name: str, meaning: str, **details: Any) -> Callable[[Any], Any]:
    """Declare an option of all commands."""
    return click.option(name, help=f"Before a command: {meaning}", **details)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Run gainful COMMAND --help for its main options, gainful help COMMAND for every option, and gainful help for topics.",
)
@click.version_option(gf.__version__, message="gainful %(version)s")
@_before("--traceback", "show the traceback of an error.", is_flag=True, expose_value=False)
@_before(
    "--config",
    "read project settings from this file instead of the nearest gainful.toml.",
    metavar="FILE",
)
@_before("--no-config", "ignore project files.", is_flag=True)
@_before(
    "--trust",
    "let the project file run code, call services and send keys for this command only; `gainful config --trust` makes that "
    "permanent.",
    is_flag=True,
)
def commands(config: str | None, no_config: bool, trust: bool) -> None:  # noqa: ARG001 - see `read_project_file`
    """Measure how good rankings are."""
    if config is not None and no_config:
        raise click.UsageError("Use either --config or --no-config, not both.")
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        formatter = context.make_formatter()
        cast("_Commands", context.command).format_commands(context, formatter)
        click.echo(_FIRST_SCREEN.format(commands=formatter.getvalue().lstrip("\n")))


def import_quickly() -> None:
    """Speed up the imports of a command that only measures; `keep_imports` of `main` follows them.

    Without this, Python would repeatedly scan all modules for garbage, and NumPy's linear algebra
    library would start a thread per core, which measuring doesn't use. A number of threads that the
    user has set is kept.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
