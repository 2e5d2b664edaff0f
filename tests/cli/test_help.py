"""What the help says of each option can be read alone; it is brief, and all of it can be had."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

import gainful as gf
from every_case import assert_every_case
from gainful.analysis.comparison.gate import CHANGED, FACTS
from gainful.cli.commands import commands
from gainful.cli.look_up import TOPICS
from gainful.cli.option_table import GroupedCommand

COOKING = Path(__file__).parents[2] / "examples" / "cooking"

CONTEXT = click.Context(commands)
COMMANDS = {name: commands.get_command(CONTEXT, name) for name in commands.list_commands(CONTEXT)}
GROUPED = [name for name, each in COMMANDS.items() if isinstance(each, GroupedCommand)]
OPTIONS = {
    f"{name} {option.opts[0]}": option
    for name, command in COMMANDS.items()
    for option in command.params
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
    told = " ".join(cli("help", "compare").stdout.split())
    assert "The pairs of runs to compare. baseline: every run with the base" in told
    assert "The test that decides significance. t: paired t" in told


def plain(text):
    return " ".join(text.replace("\b", "").split())


@pytest.mark.parametrize("name", GROUPED)
def test_the_brief_help_names_every_option_and_the_whole_help_tells_all(cli, name):
    brief, full = cli(name, "--help").stdout, cli("help", name).stdout
    assert brief.count("\n") <= 70
    told = "".join(full.split())  # lines are also broken at hyphens
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            words = brief.split()
            assert any(each in words or f"{each}," in words for each in option.opts), option.opts
            assert "".join(option.help.partition("  [")[0].split()) in told, option.opts
    titles = re.findall(r"^(\S[^\n]*):$", full, re.MULTILINE)
    described, _, named = brief.partition("\nMore options; ")
    in_brief = re.findall(r"^(\S[^\n]*):$", described, re.MULTILINE)
    in_brief += re.findall(
        r"^  (\S[^\n(:]*?)(?: \(gainful help \w+\))?:(?: |$)", named, re.MULTILINE
    )
    assert {*in_brief} == {*titles}
    assert set(re.findall(r"\(gainful help (\w+)\)", brief)) <= {*TOPICS, "run"}  # the command


def test_evaluate_has_five_examples():
    assert len(COMMANDS["evaluate"].examples) == 5


# These need a server or start one, need a sample of people's judgments, or take long.
ONLY_READ = ("run", "collect", "judge", "mcp", "calibrate", "report", "watch")
COPIES = {
    "judgments.qrels": ("ann.qrels", "bob.qrels", "eve.qrels"),
    "keyword.run": ("bm25.run", "runs/bm25.run"),
    "hybrid.run": ("dense.run", "my.run", "runs/dense.run"),
    "queries.tsv": ("queries.tsv",),
}  # fmt: skip
FILMS = {
    "personal.csv": ("lists.csv", "a.csv"),
    "popular.csv": ("b.csv",),
    "items.csv": ("films.csv",),
    "history.csv": ("ratings.csv",),
    "liked.csv": ("liked.csv",),
}


@pytest.fixture(scope="module")
def example_files(tmp_path_factory):
    """A folder with the files that the examples of the help name."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "runs").mkdir()
    for name, copies in COPIES.items():
        for copy in copies:
            shutil.copy(COOKING / name, folder / copy)
    for name, copies in FILMS.items():
        for copy in copies:
            shutil.copy(COOKING.parent / "films" / name, folder / copy)
    graded = (COOKING / "judgments.qrels").read_text()
    (folder / "qrels.txt").write_text(graded.replace(" -1", " 0"))  # which scikit-learn takes
    shutil.copy(COOKING.parent / "clicks" / "impressions.csv", folder)
    shutil.copy(COOKING.parent / "hotels" / "model.qrels", folder)
    shutil.copy(COOKING.parents[1] / "vectors" / "examples" / "conform.py", folder / "my_ndcg.py")
    for name, better in (("old", 0.0), ("new", 0.1)):
        rows = [f"q{at},{at / 10 + better}" for at in range(8)]
        (folder / f"{name}.csv").write_text("\n".join(["query,nDCG", *rows, ""]))
    return folder


@pytest.mark.parametrize("name", [name for name in GROUPED if name not in ONLY_READ])
def test_the_examples_can_be_run(cli, monkeypatch, example_files, name):
    monkeypatch.chdir(example_files)
    for example in COMMANDS[name].examples:
        program, *words = shlex.split(example)
        assert program == "gainful"
        words = [each for word in words for each in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]  # fmt: skip
        done = cli(*words)
        assert done.returncode in (0, 1), (example, done.stderr)


def test_the_other_examples_can_be_read():
    for name in ONLY_READ:
        for example in COMMANDS[name].examples:
            words = shlex.split(example)
            assert words[:2] == ["gainful", name]
            COMMANDS[name].make_parser(click.Context(COMMANDS[name])).parse_args(words[2:])


def test_the_topics_tell_what_the_tables_have(cli):
    told = {name: plain(cli("help", name).stdout) for name in TOPICS}
    for choice in gf.measures.choices():
        assert f"--{choice.name.replace('_', '-')}: {choice.question}" in told["policy"]
        assert all(meaning in told["policy"] for meaning in choice.answers.values())
    assert all(f"{each.name} {each.title}" in told["measures"] for each in gf.measures.families())
    assert all(f"{each.name} {each.tool}" in told["dialects"] for each in gf.measures.dialects())
    for role, names in gf.inputs.column_names().items():
        assert f"{role} {', '.join(names)}" in told["columns"]
    assert all(name in told["output"] for name in gf.writing.formats())
    assert all(
        f"{name} " in told["gates"] and what in told["gates"] for name, what in FACTS.items()
    )
    for words in TOPICS:
        assert TOPICS[words].__doc__.partition("\n")[0] in plain(cli("help").stdout)
    for name in ("nDCG@10", "P(rel=2)@5", "ndcg@10", "0.5*nDCG@10 + 0.5*RR"):
        assert gf.measure(name)


def test_the_conditions_of_the_topic_are_read(cli):
    told = cli("help", "gates").stdout
    conditions = re.findall(r"^  (\S.*? [<>] \S+|changed)  ", told, re.MULTILINE)
    assert len(conditions) == 3
    assert re.findall(r"^  (\w+)  +the (?:share|number)", told, re.MULTILINE) == [*FACTS]
    conditions += [f"{fact} < 0.9" for fact in FACTS]
    files = [str(COOKING / name) for name in ("judgments.qrels", "keyword.run", "hybrid.run")]
    for condition in conditions:
        done = cli("compare", *files, "--fail-if", condition)
        if condition == CHANGED:  # which is a question to a saved baseline alone
            assert "baseline" in done.stderr
        else:
            assert done.returncode in (0, 1), done.stderr


def test_help_on_what_there_is_not(cli):
    done = cli("help", "polcy")
    assert done.returncode == 2
    assert "There is no help on 'polcy'. Did you mean 'gainful help policy'?" in done.stderr
    assert cli("help", "trec_eval").returncode == 0


def test_the_whole_help_is_shown_beside_a_broken_file(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("gainful.toml").write_text("[broken")
    assert "--ties" in cli("help", "evaluate").stdout
    Path("gainful.toml").write_text("measures = ['AP']")
    assert "[default: AP]" in plain(cli("help", "evaluate").stdout)
