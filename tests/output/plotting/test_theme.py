"""Colours that can be told apart, and text that can be read."""

import itertools
import math

import pytest

import gainful as gf
from gainful.output.plotting import specifications, theme

THEMES = pytest.mark.parametrize("look", [theme.LIGHT, theme.DARK], ids=["light", "dark"])

# How each kind of colour blindness sees linear RGB (Machado, Oliveira and Fernandes, 2009).
BLINDNESS = {
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def rgb(colour):
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def linear(parts):
    return [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]


def luminance(parts):
    return sum(
        weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(parts), strict=True)
    )


def contrast(one, two):
    dark, light = sorted(luminance(rgb(c) if isinstance(c, str) else c) for c in (one, two))
    return (light + 0.05) / (dark + 0.05)


def lab(parts):
    """Return CIELAB of linear RGB, for a white of D65."""
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    white = (0.9505, 1.0, 1.089)
    x, y, z = (
        sum(a * max(b, 0) for a, b in zip(row, parts, strict=True)) / w
        for row, w in zip(matrix, white, strict=True)
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(one, two, blindness):
    seen = [
        [min(1, sum(a * b for a, b in zip(row, linear(rgb(c)), strict=True))) for row in blindness]
        for c in (one, two)
    ]
    return math.dist(*(lab(parts) for parts in seen))


def test_contrast_is_the_published_one():
    assert contrast("#000000", "#ffffff") == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


@THEMES
def test_marks_stand_out_from_the_background(look):
    marks = [*look["range"]["category"], *look["range"]["ordinal"]]
    marks += [look["style"]["reference"]["stroke"], look["axis"]["domainColor"]]
    assert min(contrast(colour, look["background"]) for colour in marks) >= 3


@THEMES
def test_marks_that_shine_through_stand_out_too(look):
    ground = rgb(look["background"])
    for colour in look["range"]["ordinal"]:
        mixed = [
            specifications.OPACITY * a + (1 - specifications.OPACITY) * b
            for a, b in zip(rgb(colour), ground, strict=True)
        ]
        assert contrast(mixed, ground) >= 3, colour


@THEMES
def test_text_can_be_read(look):
    colours = {
        look[part][key]
        for part in ("axis", "legend", "header", "title")
        for key in ("labelColor", "titleColor", "color", "subtitleColor")
        if key in look[part]
    } | {look["text"]["color"], look["style"]["note"]["fill"], look["style"]["mean"]["fill"]}
    assert len(colours) >= 2
    assert min(contrast(colour, look["background"]) for colour in colours) >= 4.5


@pytest.mark.parametrize(
    ("grades", "text"),
    [(theme.GRADES_LIGHT, theme.TEXT_LIGHT), (theme.GRADES_DARK, theme.TEXT_DARK)],
    ids=["light", "dark"],
)
def test_grades_are_in_order_and_text_is_read_on_each(grades, text):
    assert min(contrast(colour, text) for colour in grades) >= 4.5
    against = [contrast(colour, text) for colour in grades]
    assert against == sorted(against, reverse=True)
    assert len(set(grades)) == len(grades)


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("palette", ["category", "ordinal"])
@THEMES
def test_no_two_colours_look_alike(look, palette, blindness):
    colours = look["range"][palette]
    closest = min(
        apart(one, two, BLINDNESS[blindness]) for one, two in itertools.combinations(colours, 2)
    )
    assert closest >= 9.5  # a difference of 2.3 can just be seen


def test_colours_that_look_alike_are_found():
    assert (
        apart("#c2500f", "#9c8a00", BLINDNESS["deutan"])
        < 9.5
        < apart("#c2500f", "#9c8a00", BLINDNESS["none"])
    )


def test_both_themes_have_the_same_parts():
    assert theme.LIGHT.keys() == theme.DARK.keys()
    assert len(theme.GRADES_LIGHT) == len(theme.GRADES_DARK)
    assert len(set(theme.SHAPES)) == len(theme.SHAPES)
    # Coprime, so that the pairs of colour and shape repeat as late as can be.
    assert math.gcd(len(theme.SHAPES), len(theme.LIGHT["range"]["category"])) == 1


def test_a_theme_that_does_not_exist():
    with pytest.raises(gf.errors.InputError, match=r"Did you mean 'dark'\? Choices: light, dark"):
        theme.theme_of("drak")
    assert theme.theme_of(None) is None
