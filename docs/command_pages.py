"""The pages of the commands, written from what the command line says of itself."""

import inspect
import re
from collections.abc import Callable
from functools import cache

import click

from gainful.cli.commands import commands
from gainful.cli.option_table import GroupedCommand, groups_of

LONGEST = 30  # characters of names and choices that stand in a column of their own


def plain(text: str) -> str:
    """Return words of a help for a page: what is not code means nothing to Markdown."""
    parts = text.replace("\b\n", "").split("`")
    parts[::2] = [re.sub(r"([*_<|\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(part.replace("\n", " ") for part in parts)


def record(option: click.Option, context: click.Context) -> tuple[str, str]:
    """Return how an option is written, and its help; many choices stand in the help."""
    names, told = option.get_help_record(context) or ("", "")
    if len(names) > LONGEST and "|" in names:
        long = max(option.opts, key=len)
        names = f"{', '.join(sorted(option.opts, key=len))} {long[2:].upper()}"
        if isinstance(option.type, click.Choice):
            text, brackets, more = told.partition("  [")
            listed = ", ".join(option.type.choices)
            told = (
                text
                if all(each in text for each in option.type.choices)
                else f"{text} One of {listed}."
            )
            told += brackets + more
    return names, told


def options_table(options: list[click.Option], context: click.Context) -> str:
    """Return options as rows of a table: how each is written, what it does, its default."""
    lines = ["| option | what it does | default |", "|---|---|---|"]
    for option in options:
        names, told = record(option, context)
        text, *more = told.split("  [")
        extras = "; ".join(each.removesuffix("]") for each in more).split("; ")
        default = "; ".join(each for each in extras if not re.search(r"[<>]=?", each))
        written = names.replace("|", "\\|")
        lines.append(
            f"| `{written}` | {plain(text)} | {plain(default.removeprefix('default: '))} |"
        )
    return "\n".join(lines)


@cache
def shared_help() -> frozenset[tuple[str, str | None]]:
    """Return the options that many commands share: the long name and the help of each."""
    command = commands.get_command(click.Context(commands), "evaluate")
    return frozenset(
        (max(option.opts, key=len), option.help)
        for group, found in groups_of(command, command.params)
        if group.topic
        for option in found
    )


def is_shared(option: click.Option) -> bool:
    """Return whether an option means here what it means in the commands that share it."""
    return (max(option.opts, key=len), option.help) in shared_help()


def command_page(name: str) -> Callable[[], str]:
    """Return what writes the page of a command."""

    def written() -> str:
        context = click.Context(commands, info_name="gainful")
        command = commands.get_command(context, name)
        inner = click.Context(command, context, name)
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        usage = " ".join(inner.get_usage().removeprefix("Usage: ").split())
        parts = [*map(plain, paragraphs), f"```text\n{usage}\n```"]
        if not isinstance(command, GroupedCommand):
            options = [each for each in command.params if isinstance(each, click.Option)]
            return "\n\n".join([*parts, *([options_table(options, inner)] if options else [])])
        calls = "\n".join(command.examples)
        parts.append(f"Examples:\n\n```sh\n{calls}\n```")
        for group, found in groups_of(command, command.params):
            parts.append(f"## {group.title}")
            shared, own = [], found
            if group.topic and not group.command:
                shared = [each for each in found if is_shared(each)]
                own = [each for each in found if each not in shared]
            if own:
                parts.append(options_table(own, inner))
            if shared:
                listed = ", ".join(f"`{max(each.opts, key=len)}`" for each in shared)
                anchor = group.title.lower().replace(",", "").replace(" ", "-")
                parts.append(f"{listed}: see [the options that commands share](index.md#{anchor}).")
        return "\n\n".join(parts)

    return written


def command_list() -> str:
    """Return a table of all commands, in the order of the help."""
    lines = ["| command | what it does |", "|---|---|"]
    lines += [
        f"| [`gainful {name}`]({name}.md) | {plain(line)} |"
        for name, line in commands.lines.items()
    ]
    return "\n".join(lines)


def shared_options() -> str:
    """Return the options that many commands share, in full."""
    command = commands.get_command(click.Context(commands), "evaluate")
    context = click.Context(command)
    return "\n\n".join(
        f"## {group.title}\n\n{options_table(found, context)}"
        for group, found in groups_of(command, command.params)
        if group.topic
    )


PARTS: dict[str, Callable[[], str]] = {
    "commands": command_list,
    "shared_options": shared_options,
    **{f"command_{name}": command_page(name) for name in commands.lines},
}
