"""The help of a command: usage, examples and its options in groups; briefly, or all of it.

`--help` is brief: the first clause about each option, and of options that many commands share
only the names. `gainful help COMMAND` tells all.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import click

import gainful as gf

_LONGEST_NAMES = 24  # characters of names and choices that stand beside the help
_FULL = "gainful.full_help"  # in a context: whether all is told
_OWN = {
    ("run", "engine"),
    ("conformance", "dialect"),
}  # options that are another thing here than elsewhere


class Group(NamedTuple):
    """Options that belong together, by the names of their parameters.

    Where there is a `topic`, `gainful help` tells of them, and a brief help has their names alone.
    """

    title: str
    names: tuple[str, ...]
    topic: str = ""


_MEASURED = Group("Judgments and measures", ("judgments", "measures", "measure", "define", "subtopics", "dialect"))  # fmt: skip
_OTHERS = Group("Options", ())
_SHARED = (
    Group(
        "Intervals, tests and slices",
        ("interval", "level", "pairs", "baseline", "test", "correction", "margin", "tie", "resamples",
         "seed", "slices", "by"),
    ),
    Group("Gates", ("fail_if", "fail_unless", "junit", "summary", "movers")),
    Group(
        "Output",
        ("per_query", "worst", "best", "digits", "systems", "tests_", "table_name", "html", "format_",
         "output", "verbose", "help"),
    ),
    Group(
        "Columns, ids and chunks",
        ("columns", "query_ids", "assessors", "chunks", "chunk_map"),
        "columns",
    ),
    Group("Policy", tuple(choice.name for choice in gf.measures.choices()), "policy"),
    Group("Memory, cores and engine", ("memory", "threads", "temp_dir", "unpacked", "engine", "master"), "machine"),
)  # fmt: skip


def groups_of(command: click.Command, params: Iterable[click.Parameter]) -> list[tuple[Group, list[click.Option]]]:  # fmt: skip
    """Return the options of a command in groups, in the order of the help; no group is empty."""
    order = [_MEASURED, _OTHERS, *_SHARED]
    places = {name: at for at, group in enumerate(order) for name in group.names}
    found: list[list[click.Option]] = [[] for _ in order]
    for option in params:
        if isinstance(option, click.Option) and not option.hidden:
            name = "help" if "--help" in option.opts else str(option.name)
            own = (command.name, name) in _OWN
            found[1 if own else places.get(name, 1)].append(option)
    return [(group, options) for group, options in zip(order, found, strict=True) if options]


def write_paragraphs(formatter: click.HelpFormatter, text: str) -> None:
    """Write paragraphs, after a blank line."""
    indent = " " * formatter.current_indent
    formatter.write_paragraph()
    formatter.write(
        f"{click.wrap_text(text, formatter.width, indent, indent, preserve_paragraphs=True)}\n"
    )


def tell_all(context: click.Context) -> click.Context:
    """Return a context whose help is not brief."""
    context.meta[_FULL] = True
    return context


def first_clause(told: str) -> str:
    """Return how a help begins, with what stands in brackets at its end.

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
    """Return the names of an option, and its help in brief; many choices stand in the help."""
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
    """A command whose help has examples, and its options in groups.

    Args:
        examples: calls, as they are typed.
        more: paragraphs that a brief help leaves out.
    """

    def __init__(
        self, *args: Any, examples: Sequence[str] = (), more: str = "", **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.examples = tuple(examples)
        self.more = more

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, and examples."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
                for call in self.examples:
                    hanging = " " * (formatter.current_indent + 4)
                    first = " " * formatter.current_indent
                    formatter.write(f"{click.wrap_text(call, formatter.width, first, hanging)}\n")

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
            tell = click.Option.get_help_record if full else brief_record
            with formatter.section(group.title):
                formatter.write_dl([record for each in options if (record := tell(each, ctx))])
        if not full:
            with formatter.indentation():
                write_paragraphs(formatter, f"gainful help {self.name} tells all of every option.")
