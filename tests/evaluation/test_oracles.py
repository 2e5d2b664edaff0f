"""Every family has its oracles, the tests make use of them, and the documentation says so.

The tests of each oracle are parametrised from the table, and fail for a family that the table
names and they cannot compare; here the table is held against the catalogue.
"""

import re
from pathlib import Path

import pytest

import gainful as gf
import literal_measures
import oracles
from oracles import LITERAL, ORACLES, PERMUTATIONS, PYTREC, vouched

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reference" / "measures.md"
HEADING = "## How each measure is tested"

# Where the tests of an oracle stand: each is parametrised with the families of the table.
TESTS = {
    LITERAL: "test_measures_against_literal.py",
    PERMUTATIONS: "test_expectations_over_ties.py",
    PYTREC: "test_measures_against_tools.py",
    oracles.CWL: "test_measures_against_ir_measures.py",
    oracles.GDEVAL: "test_measures_against_ir_measures.py",
    oracles.COMPAT: "test_measures_against_ir_measures.py",
    oracles.JUDGED: "test_measures_against_ir_measures.py",
    oracles.MSMARCO: "test_measures_against_ir_measures.py",
}


def test_every_family_of_the_catalogue_has_an_oracle():
    assert ORACLES.keys() == {family.name for family in gf.measures.families(needs="grades")}
    assert all(ORACLES.values())


def test_every_family_has_a_literal_formula():
    assert set(vouched(LITERAL)) == literal_measures.FORMULAS.keys() == ORACLES.keys()


def test_every_oracle_that_is_named_has_tests():
    named = {oracle for several in ORACLES.values() for oracle in several}
    assert named == TESTS.keys()


@pytest.mark.parametrize("oracle", TESTS)
def test_the_tests_of_an_oracle_run_for_the_families_that_it_vouches_for(oracle, request):
    """Collect the file, and look for each family among the parameters of its tests."""
    assert vouched(oracle)
    module = pytest.Module.from_parent(
        request.session, path=HERE / TESTS[oracle], name=TESTS[oracle]
    )
    collected = [item.callspec.params for item in leaves(module) if hasattr(item, "callspec")]
    for family in vouched(oracle):
        assert any(
            family in parameters.values()
            and (oracle in parameters.values() or oracle in (LITERAL, PERMUTATIONS, PYTREC))
            for parameters in collected
        ), family


def leaves(collector):
    for node in collector.collect():
        if isinstance(node, pytest.Item):
            yield node
        else:
            yield from leaves(node)


def documented():
    """The table on the page: {family: its oracles}."""
    section = PAGE.read_text().split(HEADING)[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    table = {}
    for families, named in rows:
        if families.startswith(("measure", "---")):
            continue
        for family in families.split(", "):
            assert family not in table, family
            table[family] = tuple(named.split(", "))
    return table


def test_the_documentation_shows_the_table():
    assert documented() == ORACLES
