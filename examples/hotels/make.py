"""Write the data of this folder: hotels, queries, three runs, the grades of three people and those of a model.

All of it is simulated. There are no such hotels, nobody graded them, and the model is the function in `word_reader.py`. So it
is known here what nobody knows in life: how people would have graded the queries that they were not asked about
(`truth.qrels`). The same seed gives the same files, byte for byte.

    python examples/hotels/make.py [FOLDER]
"""

import itertools
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from word_reader import grade, look, read_query

import gainful as gf

SEED = 25
CITIES = (
    "Bergen", "Bilbao", "Catania", "Dresden", "Galway", "Ghent", "Innsbruck", "Krakow", "Lyon", "Porto", "Split", "Tartu",
)  # fmt: skip
WISHES = ("pool", "pets", "parking", "sauna", "breakfast", "gym", "balcony")
NAMES = (
    "Anchor", "Aurora", "Bridge", "Castle", "Central", "Garden", "Grand", "Harbour", "Lion", "Meridian", "Mill", "Palace",
    "Park", "Royal", "Star", "Terrace",
)  # fmt: skip
HAS, DENIES = 0.3, 0.4  # the shares of wishes that a hotel meets, and that it says it does not meet
PAIRS = 20  # of wishes, in each city: 240 queries
DEPTH = 10  # of the runs
JUDGED = 60  # queries, by people


@dataclass(frozen=True)
class Hotel:
    """A hotel: what it says of itself, and what is true of it."""

    title: str
    text: str
    city: str
    near: bool
    has: tuple[str, ...]

    def worth(self, wishes: list[str]) -> int:
        """Return the right grade: 0 elsewhere, else 1 and one more for each wish."""
        return 0 if self.near else 1 + sum(wish in self.has for wish in wishes)


def make_hotels(rng: random.Random) -> dict[str, Hotel]:
    """Return id → hotel: in each city sixteen, and as many near it."""
    hotels = {}
    for city, near, name in itertools.product(CITIES, (False, True), NAMES):
        luck = {wish: rng.random() for wish in WISHES}
        has = tuple(wish for wish in WISHES if luck[wish] < HAS)
        lacks = [f"no {wish}" for wish in WISHES if HAS <= luck[wish] < HAS + DENIES]
        text = f"{'Near' if near else 'In'} {city}. With {', '.join(has) or 'a view'}."
        text += f" {', '.join(lacks).capitalize()}." if lacks else ""
        title = f"{name} {'Inn' if near else 'Hotel'}"
        hotels[f"h{len(hotels):03}"] = Hotel(title, text, city, near, has)
    return hotels


def make_queries() -> dict[str, str]:
    """Return id → text."""
    pairs = list(itertools.combinations(WISHES, 2))[:PAIRS]
    texts = [f"{city} hotel with {one} and {other}" for city in CITIES for one, other in pairs]
    return {f"q{at:03}": text for at, text in enumerate(texts)}


def make_runs(
    rng: random.Random, hotels: dict[str, Hotel], queries: dict[str, str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the first ten hotels of each query in each of three runs.

    All look for what hotels have, with much noise. That of `hybrid` is a little less than that of `live`; `rerank` goes by the
    grades of the model, too.
    """
    runs: dict[str, dict[str, dict[str, float]]] = {"live": {}, "hybrid": {}, "rerank": {}}
    for query, text in queries.items():
        city, wishes = read_query(text)
        luck = rng.random()
        hard = 0.2 + 4 * luck * luck  # a few queries are hard for every system
        scores: dict[str, dict[str, float]] = {name: {} for name in runs}
        for doc, hotel in hotels.items():
            if hotel.city == city:
                right, (model, _) = hotel.worth(wishes), look(text, hotel.text)
                old, new = hard * noise(rng), noise(rng)
                scores["live"][doc] = right + 1.6 * old + 0.8 * noise(rng)
                scores["hybrid"][doc] = right + 1.5 * old + 0.75 * new
                scores["rerank"][doc] = 0.65 * right + 0.35 * model + 1.75 * old + 0.9 * new
        for name, found in scores.items():
            first = sorted(found, key=lambda doc: -found[doc])[:DEPTH]
            runs[name][query] = {doc: round(found[doc], 2) for doc in first}
    return runs


def noise(rng: random.Random) -> float:
    """Return a number from −1 to 1, most often one near 0."""
    return rng.random() + rng.random() - 1


def make_grades(
    rng: random.Random,
    hotels: dict[str, Hotel],
    queries: dict[str, str],
    pool: dict[str, list[str]],
) -> dict[str, dict[str, dict[str, int]]]:
    """Return query → hotel → person → grade.

    All slip now and then. To ben, half of what was wished for is often no better than nothing of it. To eve, near is often near enough.
    """
    grades: dict[str, dict[str, dict[str, int]]] = {}
    for query, docs in pool.items():
        _, wishes = read_query(queries[query])
        grades[query] = {}
        for doc in docs:
            right = hotels[doc].worth(wishes)
            given = {
                "ann": right,
                "ben": right - (right == 2 and rng.random() < 0.35),
                "eve": right + (right < 2 and rng.random() < 0.25),
            }
            grades[query][doc] = {name: slip(rng, each) for name, each in given.items()}
    return grades


def slip(rng: random.Random, given: int) -> int:
    """Return a grade, which in one case of ten is one more or one less than it should be."""
    luck = rng.random()
    return max(0, min(3, given + (luck < 0.05) - (luck > 0.95)))


def main(folder: Path) -> None:
    """Write the files."""
    rng = random.Random(SEED)  # noqa: S311 - a simulation
    hotels, queries = make_hotels(rng), make_queries()
    docs = {doc: (hotel.title, hotel.text) for doc, hotel in hotels.items()}
    runs = make_runs(rng, hotels, queries)
    pool = {
        query: sorted({*itertools.chain(*(run[query] for run in runs.values()))})
        for query in queries
    }
    people = make_grades(rng, hotels, queries, pool)
    design = gf.judging.sample_queries(queries, JUDGED, seed=SEED)
    model = gf.judging.collect_grades(pool, grade, queries=queries, docs=docs, name="word-reader")

    given = [
        f"{query},{doc},{name},{each}"
        for query in design.queries
        for doc, grades in people[query].items()
        for name, each in grades.items()
    ]
    write_lines(folder / "queries.tsv", "query\ttext", map("\t".join, queries.items()))
    write_lines(
        folder / "docs.tsv",
        "doc\ttitle\ttext",
        ("\t".join([doc, *text]) for doc, text in docs.items()),
    )
    write_lines(folder / "people.csv", "query,doc,assessor,grade", given)
    for name, run in runs.items():
        gf.write_run(run, folder / f"{name}.run", tag=name)
    gf.write_judgments(model, folder / "model.qrels")
    gf.write_judgments(gf.judging.merge_judgments(people, "median"), folder / "truth.qrels")
    design.write(folder / "design.json")


def write_lines(path: Path, header: str, rows: Iterable[str]) -> None:
    """Write a file of text with the same ends of lines on every machine."""
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent)
