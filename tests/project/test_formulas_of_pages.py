"""Definitions with sums are typeset on the pages, and each formula in TeX belongs to a definition."""

import importlib.util
from pathlib import Path

import pytest

import gainful as gf

DOCS = Path(__file__).parents[2] / "docs"
FAMILIES = gf.measures.families()


@pytest.fixture(scope="module")
def formulas():
    spec = importlib.util.spec_from_file_location("formulas", DOCS / "formulas.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_sums_are_typeset(formulas, family):
    text = formulas.typeset(family.definition)
    assert not {"Σ", "Π", "√"} & {*text}
    assert text.count("$") % 2 == 0
    assert ("$$" in text) >= any(sign in family.definition for sign in "ΣΠ√")


def test_no_formula_is_left_over(formulas):
    definitions = [family.definition for family in FAMILIES]
    for plain in formulas.FORMULAS:
        assert any(each.startswith(plain) for each in definitions), plain
    for plain in formulas.WITHIN:
        assert any(plain in each for each in definitions), plain
    shown = [*gf.fusion.methods(), *gf.fusion.normalisations()]
    assert {*formulas.FUSION} == {each.formula for each in shown}
