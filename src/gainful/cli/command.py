"""Commands: their help, with options in groups, and the settings of the project file as defaults.

`--help` is brief: the first clause about each option, and only the names of options that many commands share.
`gainful help COMMAND` shows the full help.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import click

import gainful as gf
from gainful.cli.process import tell
from gainful.cli.project import Project, ProjectFileChoice, is_typed, read_settings

_LONGEST_NAMES = 24  # characters of names and choices that fit next to the help
_FULL = "gainful.full_help"  # in a context: whether to show the full help
_OWN = {
    ("run", "engine"),
    ("conformance", "dialect"),
    *(("recommend", name) for name in ("items", "separator", "vectors", "history", "expected")),
}  # options that mean something else in this command, or that are its subject
_BEFORE = ("--config", "--no-config", "--traceback", "--trust")
_SAME = {
    "--metric": "--measure", "--metrics": "--measure", "--measures": "--measure",
    "--qrels": "--judgments", "--base": "--baseline", "--judged-only": "--unjudged",
}  # fmt: skip
"""Names of options in other tools, and gainful's names for them."""
_OF_MEASURES = ("-k", "--k", "--at", "--cutoff", "--gain", "--discount", "--rel")
_MEASURING = ("evaluate", "compare", "report", "explain", "why", "pool", "power")
_SUBTOPICS = "gainful evaluate JUDGMENTS RUN --subtopics -m alpha_nDCG@10"
_OF_SCORES = ("compare", "leaderboard")
"""Commands that accept per-query scores instead of judgments and runs."""


class HelpGroup(NamedTuple):
    """Options that belong together, by the names of their parameters.

    If there is a `topic`, `gainful help` describes the options there, and the brief help only lists their names.
    """

    title: str
    names: tuple[str, ...]
    topic: str = ""


_HELP_GROUPS = (
    HelpGroup("Judgments and measures", ("judgments", "measures", "measure", "define", "subtopics", "dialect")),
    HelpGroup("Options", ()),  # all others
    HelpGroup(
        "Tables for measures of subtopics and items",
        ("subtopic_judgments", "items", "separator", "vectors", "history", "expected"),
        "measures",
    ),
    HelpGroup(
        "Intervals, tests and slices",
        ("interval", "level", "pairs", "baseline", "test", "correction", "margin", "tie", "resamples",
         "seed", "slices", "by"),
    ),
    HelpGroup("Gates", ("fail_if", "fail_unless", "junit", "summary", "movers")),
    HelpGroup(
        "Output",
        ("per_query", "worst", "best", "digits", "systems", "tests", "table_name", "html", "format",
         "output", "verbose", "help"),
    ),
    HelpGroup(
        "Columns, ids and chunks",
        ("columns", "query_ids", "assessors", "chunks", "chunk_map"),
        "columns",
    ),
    HelpGroup("Policy", tuple(choice.name for choice in gf.measures.choices()), "policy"),
    HelpGroup("Memory, cores and engine", ("memory", "threads", "temp_dir", "unpacked", "engine", "master"), "machine"),
)  # fmt: skip


def groups_of(
    command: click.Command, params: Iterable[click.Parameter]
) -> list[tuple[HelpGroup, list[click.Option]]]:
    """Return the options of a command in groups, in the order of the help, without empty groups."""
    places = {name: at for at, group in enumerate(_HELP_GROUPS) for name in group.names}
    options: list[list[click.Option]] = [[] for _ in _HELP_GROUPS]
    for option in params:
        if isinstance(option, click.Option) and not option.hidden:
            name = "help" if "--help" in option.opts else str(option.name)
            own = (command.name, name) in _OWN
            options[1 if own else places.get(name, 1)].append(option)
    return [pair for pair in zip(_HELP_GROUPS, options, strict=True) if pair[1]]


def write_paragraphs(formatter: click.HelpFormatter, text: str) -> None:
    """Write paragraphs, after a blank line."""
    indent = " " * formatter.current_indent
    formatter.write_paragraph()
    formatter.write(
        f"{click.wrap_text(text, formatter.width, indent, indent, preserve_paragraphs=True)}\n"
    )


def tell_all(context: click.Context) -> click.Context:
    """Return the context, set to show the full help."""
    context.meta[_FULL] = True
    return context


def first_clause(told: str) -> str:
    """Return the first clause of a help text, with the default in brackets at its end.

    >>> first_clause("How the result is written; latex rounds.  [default: table]")
    'How the result is written.  [default: table]'
    >>> first_clause("The test that decides. t: paired t; sign: of signs.  [default: t]")
    'The test that decides.  [default: t]'
    """
    text, brackets, more = told.partition("  [")
    ends = [at for end in ("; ", ". ") if (at := text.find(end)) >= 0]
    brief = f"{text[: min(ends)]}." if ends else text
    return f"{brief}{brackets}{more}"


def brief_record(option: click.Option, context: click.Context) -> tuple[str, str] | None:
    """Return the names of an option and its brief help; a long list of choices moves to the help."""
    record = option.get_help_record(context)
    if record is None:
        return None
    names, told = record[0], first_clause(record[1])
    if isinstance(option.type, click.Choice) and len(names) > _LONGEST_NAMES:
        text, brackets, more = told.partition("  [")
        names = f"{', '.join(sorted(option.opts, key=len))} {max(option.opts, key=len)[2:].upper()}"
        told = f"{text.removesuffix('.')}: {', '.join(option.type.choices)}.{brackets}{more}"
    return names, told


class GroupedCommand(click.Command):
    """A command whose help shows examples, and options in groups.

    Args:
        examples: calls, as typed.
        more: paragraphs that the brief help leaves out.
    """

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), more: str = "", **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.examples = tuple(examples)
        self.more = more

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of the command, and the examples."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
                first = " " * formatter.current_indent
                for call in self.examples:
                    text = click.wrap_text(call, formatter.width, first, f"{first}    ")
                    formatter.write(f"{text}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups."""
        full = ctx.meta.get(_FULL, False)
        if full and self.more:
            with formatter.indentation():
                write_paragraphs(formatter, self.more)
        for group, options in groups_of(self, self.get_params(ctx)):
            if group.topic and not full:
                write_paragraphs(formatter, f"{group.title} (gainful help {group.topic}):")
                names = "  ".join(max(each.opts, key=len) for each in options)
                formatter.write(f"{click.wrap_text(names, formatter.width, '  ', '  ')}\n")
                continue
            record = click.Option.get_help_record if full else brief_record
            with formatter.section(group.title):
                formatter.write_dl([row for each in options if (row := record(each, ctx))])
        if not full:
            with formatter.indentation():
                write_paragraphs(formatter, f"Run gainful help {self.name} for the full help.")


class ProjectCommand(GroupedCommand):
    """A command that uses the project file's settings as defaults, and reports which it used."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the command line, with the settings of the file as defaults.

        An error in the file takes precedence over an error in the call, but not over --help.
        """
        problem = None
        try:
            extra |= self._settings(parent)
        except gf.errors.GainfulError as in_file:
            problem = in_file
        try:
            context = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as wrong:
            if problem is not None:
                raise problem from None
            if isinstance(wrong, click.NoSuchOption):
                raise no_such_option(wrong.option_name, str(info_name), wrong) from None
            raise
        if problem is not None:
            raise problem
        return context

    def help_context(self, info_name: str, parent: click.Context | None) -> click.Context:
        """Return a context for showing help, with the settings of the file as defaults if it is readable."""
        try:
            extra = self._settings(parent)
        except gf.errors.GainfulError:
            extra = {}
        return click.Context(self, parent, info_name, **extra)

    def _settings(self, parent: click.Context | None) -> dict[str, Any]:
        """Return the keywords of a context that come from the file."""
        choice = None if parent is None else parent.obj
        file = choice.read() if isinstance(choice, ProjectFileChoice) else None
        if file is None:
            return {}
        project = read_settings(file)
        return {"obj": project, "default_map": project.defaults_of(self)}

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, then report which settings of the file it used."""
        project, params = ctx.obj, ctx.params
        if not isinstance(project, Project):
            return super().invoke(ctx)
        files = next(
            (params[name] for name in ("files", "arguments", "runs") if name in params), ()
        )
        if is_typed("columns"):
            params["columns"] = project.merge_columns(params["columns"])
        try:
            return super().invoke(ctx)
        except gf.errors.GainfulError as problem:
            located = project.located(problem, files)
            if located is problem:
                raise
            raise located from problem
        finally:
            if (used := project.told(self)) is not None:
                tell(used)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write which of the defaults in the help come from the project file."""
        super().format_epilog(ctx, formatter)
        if ctx.default_map:
            with formatter.indentation():
                names = ", ".join(ctx.default_map)
                write_paragraphs(formatter, f"Here, {ctx.obj} sets {names}: see `gainful config`.")


def command(
    *examples: str, cls: type[GroupedCommand] = ProjectCommand, **details: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """Turn a function into a command, with examples of calls."""
    return click.command(cls=cls, examples=examples, **details)


def no_such_option(
    name: str, command: str, wrong: click.NoSuchOption | None = None
) -> click.UsageError:
    """Return the error about an unknown option of a command.

    Some options belong before the command, some are part of the measure, and some have another name.
    """
    told = ""
    if name in _BEFORE:
        told = f"{name} belongs before the command: gainful {name} {command} …"
    elif name in _OF_MEASURES and command in _MEASURING:
        told = f"No such option {name!r}. It is part of the measure: -m 'nDCG(gain=exp2)@10'."
    elif name == "--subtopics" and command in _OF_SCORES:
        told = (
            f"{command} has no --subtopics. Write the scores of each run with {_SUBTOPICS} --per-query -o RUN.csv, "
            f"then pass these files: gainful {command} --scores RUN.csv RUN.csv …"
        )
    elif name == "--subtopics" and command in _MEASURING:
        told = f"{command} has no --subtopics. To measure subtopics, use: {_SUBTOPICS}"
    elif name in _SAME and wrong is not None and wrong.ctx is not None:
        there = [each for param in wrong.ctx.command.params for each in param.opts]
        if _SAME[name] in there:
            told = f"No such option {name!r}. Did you mean {_SAME[name]!r}?"
    if told:
        return click.UsageError(told, None if wrong is None else wrong.ctx)
    return click.NoSuchOption(name) if wrong is None else wrong
