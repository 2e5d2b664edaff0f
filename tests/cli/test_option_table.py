"""An option is declared once: for Python, for the command line with its help, and for a project's file."""

import inspect
from typing import Unpack

import click
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli import project
from gainful.cli.call import read_shared_options
from gainful.cli.option_table import (
    CONFLICTS,
    SECTIONS,
    SHARED,
    Conflict,
    Section,
    give,
    options_of_group,
)
from gainful.cli.project import ProjectCommand, ProjectFile
from gainful.matching.keyword_options import MeasuringOptions, takes


@pytest.fixture
def patience(monkeypatch):
    """Add an option: a keyword of Python, and its entry in the table."""
    usages = {"--patience WORD": "How long to read on; at most 9."}

    monkeypatch.setitem(MeasuringOptions.__annotations__, "patience", str | None)
    monkeypatch.setitem(SHARED, "patience", usages)
    monkeypatch.setitem(SECTIONS, "", Section(f"{SECTIONS[''].groups} patience"))
    project.all_settings.cache_clear()
    yield
    project.all_settings.cache_clear()


@pytest.fixture
def command(patience):
    """A command with everything that is shared, which prints what Python's functions would get."""

    @click.command(cls=ProjectCommand)
    @give(*SHARED)
    def read(**options):
        """Read."""
        print(read_shared_options(options).get("patience"))

    return read


def test_python_takes_a_made_up_option(patience):
    @takes(MeasuringOptions)
    def measured(**options: Unpack[MeasuringOptions]) -> object:
        return options["patience"]

    assert "patience" in inspect.signature(measured).parameters
    assert measured(patience="much") == "much"
    with pytest.raises(TypeError, match=r"'patienc'. Did you mean 'patience'\?"):
        measured(patienc="much")


def test_the_command_line_takes_and_explains_a_made_up_option(command):
    run = CliRunner().invoke
    assert run(command, ["--patience", "much"]).stdout == "much\n"
    assert run(command, []).stdout == "None\n"
    assert "--patience WORD  How long to read on.\n" in run(command, ["--help"]).stdout


def test_a_project_file_sets_a_made_up_option(command, patience):
    settings = project.read_settings(ProjectFile("gainful.toml", {"patience": "much"}))
    context = {"obj": settings, "default_map": settings.defaults_of(command)}
    done = CliRunner().invoke(command, [], **context)
    assert (done.stdout, done.stderr) == ("much\n", "gainful.toml: patience=much\n")
    assert "patience" in project.all_settings()


def test_a_made_up_conflict_is_refused(monkeypatch):
    conflicts = (
        Conflict("digits", "per_query"),
        Conflict("worst", needed="digits", more=", as here"),
    )
    monkeypatch.setitem(CONFLICTS, "evaluate", conflicts)
    words = ["evaluate", "judgments", "run"]
    from gainful.cli.commands import commands

    for more, message in (
        (["--digits", "0", "--per-query"], "--digits cannot be combined with --per-query."),
        (["--worst", "1"], "--worst requires --digits, as here."),
    ):
        done = CliRunner().invoke(commands, [*words, *more])
        assert done.exit_code == 2
        assert done.stderr.endswith(f"Error: {message}\n")


def test_conflicts_are_about_options_that_there_are():
    from gainful.cli.commands import commands

    for name, conflicts in CONFLICTS.items():
        context = click.Context(commands)
        command = commands.get_command(context, name) or commands.get_command(context, "evaluate")
        known = {param.name for param in command.params}
        for conflict in conflicts:
            names = f"{conflict.options} {conflict.others} {conflict.needed}".split()
            assert {*names} <= known
            assert conflict.others or conflict.needed


def test_options_of_a_comparison_are_those_of_python():
    names = {*options_of_group("comparing"), *options_of_group("sampling")}
    assert names == {*gf.comparison.ComparisonOptions.__annotations__}


def test_a_change_of_an_option_that_is_not_given_is_an_error():
    with pytest.raises(ValueError, match=r"no option in \('digits',\): level"):
        give("digits", level="The level.")


def test_options_of_services_are_those_of_python():
    from gainful.cli.commands import commands

    # Python passes the function itself, and both keep answers and show progress.
    recording = {*gf.inputs.RecordingOptions.__annotations__} - {"cache", "progress"}
    assert {*options_of_group("recording")} - {"call"} == recording
    command = commands.get_command(click.Context(commands), "collect")
    collecting = {*gf.judging.CollectingOptions.__annotations__} - {"progress", "engine", "dry"}
    assert collecting <= {param.name for param in command.params} | {"assessors", "grade_words"}
