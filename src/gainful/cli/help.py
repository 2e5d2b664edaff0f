"""`gainful help`."""

import click

from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.grouped_help import tell_all, write_paragraphs
from gainful.cli.help_topics import TOPICS, Topic
from gainful.cli.standard_streams import print_data


@click.command(name="help")
@click.argument("topic", required=False, metavar="[TOPIC | COMMAND]")
@click.pass_context
def help_(context: click.Context, topic: str | None) -> None:
    """Tell of a TOPIC, or all of a COMMAND: every option in full."""
    group = context.find_root().command
    if not isinstance(group, click.Group):  # the root is the group of all commands
        raise TypeError(group)
    if topic is None:
        print_data(_listed(context))
        return
    command = group.get_command(context, topic)
    parts = [_told(context, topic)] if topic in TOPICS else []
    if command is not None:
        parts.append(_help_of(command, context, topic))
    if not parts:
        _refuse(context, topic, group)
    print_data("\n".join(parts))


def _listed(context: click.Context) -> str:
    """Return a line about each topic."""
    formatter = context.make_formatter()
    with formatter.section("Topics"):
        formatter.write_dl([(name, topic.line) for name, topic in TOPICS.items()])
    write_paragraphs(
        formatter,
        "gainful help TOPIC tells of one, gainful help COMMAND all of a command; gainful --help lists "
        "the commands.",
    )
    return formatter.getvalue()


def _told(context: click.Context, name: str) -> str:
    """Return the text of a topic."""
    topic: Topic = TOPICS[name]
    formatter = context.make_formatter()
    formatter.write(f"{topic.line}\n")
    topic.write(formatter)
    return formatter.getvalue()


def _help_of(command: click.Command, context: click.Context, name: str) -> str:
    """Return the whole help of a command."""
    parent = context.parent
    inner = (
        command.help_context(name, parent)
        if isinstance(command, ProjectCommand)
        else click.Context(command, parent, name)
    )
    if not command.add_help_option:  # trec_eval, whose help is its own
        return f"{command.get_usage(inner)}\n\n  {command.help}\n"
    return f"{command.get_help(tell_all(inner))}\n"


def _refuse(context: click.Context, name: str, group: click.Group) -> None:
    """Refuse what is neither a topic nor a command, and suggest the closest."""
    import difflib

    known = [*TOPICS, *group.list_commands(context)]
    close = difflib.get_close_matches(name.casefold(), known, n=1)
    hint = f" Did you mean 'gainful help {close[0]}'?" if close else ""
    raise click.UsageError(
        f"There is no help on {name!r}.{hint} `gainful help` lists the topics, `gainful --help` the "
        "commands."
    )
