"""Details come out of their packing as they went in, and no more go in than fit."""

import json
import random

import pytest

import gainful as gf
from gainful.reporting.compressed_details import Packed, pack

ODD = ["</script>", "\u2028", "\ud83d", "🍲", "\x00", "عربي", '"\\', ""]


def details(count, seed=1):
    """Return details of so many queries, at any places, that do not pack to nothing."""
    rng = random.Random(seed)  # noqa: S311
    places = rng.sample(range(1000), count)
    return [
        (
            str(place),
            {
                "docs": [
                    [rng.choice(ODD) + str(rng.random()), rng.choice([None, 0, 2, 4.5]), None, None]
                ],
                "parts": [rng.random() for _ in range(50)],
            },
        )
        for place in places
    ]


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 100])
def test_what_is_packed_is_there_again(count):
    given = details(count)
    packed = pack(iter(given))
    assert len(packed) == count
    assert list(packed.items()) == given
    assert packed.details() == dict(given)
    assert [*packed.details()] == sorted(dict(given), key=int)
    places = [place for group in packed.groups for place in group.places]
    assert places == [place for place, _ in given]


def test_the_ends_of_the_grades():
    def of(*grades):
        return pack([("0", {"docs": [["d", grade, None, None] for grade in grades]})])

    assert (of().lowest, of().highest) == (0, 1)
    assert (of(None, 0.5).lowest, of(None, 0.5).highest) == (0, 1)
    assert (of(-2, 3, None).lowest, of(-2, 3, None).highest) == (-2, 3)


@pytest.mark.parametrize("budget", [0, 50, 500, 1000, 3000, 9000, 30_000])
def test_no_more_than_fit(budget):
    given, asked = details(100), []

    def telling():
        for each in given:
            asked.append(each)
            yield each

    packed = pack(telling(), budget)
    written = json.dumps(packed.data()["groups"], separators=(",", ":"))
    assert len(written) - 2 <= budget or not len(packed)
    assert list(packed.items()) == given[: len(packed)]
    assert len(asked) <= len(packed) + 16
    whole = pack(given)
    if len(packed) < 100:  # one more of the same size would not have fitted
        assert len(written) > budget / 2 - 600
        assert len(json.dumps(whole.data()["groups"])) > budget


def test_a_size_is_at_most_what_a_page_holds():
    packed = pack(details(40))
    groups = packed.data()["groups"]
    for group, written in zip(packed.groups, groups, strict=True):
        assert len(json.dumps(written, separators=(",", ":"))) + 1 <= group.size


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(gf.errors.InputError, match="expected plain, finite values"):
        pack([("0", {"docs": [], "value": float("nan")})])


def test_nothing():
    assert (len(Packed()), Packed().details(), Packed().data()["groups"]) == (0, {}, [])
