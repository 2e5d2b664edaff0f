"""What the help says of each option can be read alone."""

import click

from every_case import assert_every_case
from gainful.cli.commands import commands

CONTEXT = click.Context(commands)
OPTIONS = {
    f"{name} {option.opts[0]}": option
    for name in commands.list_commands(CONTEXT)
    for option in commands.get_command(CONTEXT, name).params
    if isinstance(option, click.Option)
}
# A help that begins so goes on where the name of the option ends, or another help.
FRAGMENTS = {"Of", "To", "That", "Those", "And", "For", "Which", "Who"}


def test_it_is_a_sentence_or_a_phrase():
    def check(name):
        told = OPTIONS[name].help.partition("  [")[0]
        assert told[0].isupper(), told
        assert told.endswith("."), told
        assert told.split()[0] not in FRAGMENTS, told
        assert len(told.split()) > 2, told
        for pointing in (": the same, with", "find one"):
            assert pointing not in told, told

    assert_every_case(check, OPTIONS)


def test_a_question_and_its_answers_stand_together(cli):
    told = " ".join(cli("compare", "--help").stdout.split())
    assert "The runs that are compared with each other. baseline: every run with the base" in told
    assert "The test whose p-value decides. t: paired t" in told
