"""Simulate the logs of the guide on clicks, with a seed: nobody clicked anything.

    python examples/clicks/simulate.py [FOLDER]

A small shop for kitchen things has six queries and six products for each. How attractive a product is for
a query is drawn once. Each list shows five of them in an order that favours the popular ones; the user
looks at rank r with the chance 1 / r^0.7, and clicks what looks attractive.
"""

import csv
import json
import random
import sys
from pathlib import Path

QUERIES = ["bread-knife", "chef-knife", "cutting-board", "frying-pan", "kettle", "whisk"]
PRODUCTS, SHOWN, LISTS, SEED = 6, 5, 900, 7


def main(folder: Path) -> None:
    """Write all files to a folder."""
    rng = random.Random(SEED)  # noqa: S311 - a simulation
    attraction = {
        (query, f"sku-{100 + PRODUCTS * place + product}"): round(rng.betavariate(1.2, 2.5), 3)
        for place, query in enumerate(QUERIES)
        for product in range(PRODUCTS)
    }
    popular = {pair: chance + rng.gauss(0, 0.25) for pair, chance in attraction.items()}
    impressions, events, searches, interleaved = [], [], [], []
    for number in range(LISTS):
        query = rng.choice(QUERIES)
        session, search = f"v{number // 2:03}", f"s{number:04}"
        docs = [doc for asked, doc in attraction if asked == query]
        order = sorted(docs, key=lambda doc: -popular[query, doc] - rng.gauss(0, 0.6))[:SHOWN]
        searches.append(
            {
                "query_id": search,
                "user_query": query,
                "client_id": session,
                "query_response_hit_ids": order,
            }
        )
        for place, doc in enumerate(order):
            clicked = rng.random() < (place + 1) ** -0.7 * attraction[query, doc]
            impressions.append([session, search, query, doc, place, int(clicked)])
            if clicked:
                events.append({
                    "action_name": "click", "query_id": search, "session_id": session,
                    "event_attributes": {"object": {"object_id": doc}, "position": {"ordinal": place}},
                })  # fmt: skip
        if number < LISTS // 3:
            interleaved += _interleaved(rng, session, search, query, docs, attraction, popular)
    _write(
        folder / "impressions.csv",
        ["session", "search_id", "query", "product", "position", "clicked"],
        impressions,
    )
    _write(
        folder / "interleaved.csv",
        ["session", "search_id", "query", "doc", "position", "team", "clicked"],
        interleaved,
    )
    for name, records in (("ubi_events.jsonl", events), ("ubi_queries.jsonl", searches)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    for name, values in (
        ("old.run", popular),
        ("new.run", {p: c + rng.gauss(0, 0.1) for p, c in attraction.items()}),
    ):
        _write_run(folder / name, values)


def _interleaved(rng, session, search, query, docs, attraction, popular):  # type: ignore[no-untyped-def]
    """Return the rows of a list made by team draft of the old order and a better one."""
    rankings = {
        "old": sorted(docs, key=lambda doc: -popular[query, doc]),
        "new": sorted(docs, key=lambda doc: -attraction[query, doc]),
    }
    rows, taken = [], []
    while len(taken) < SHOWN:
        for team in rng.sample(["old", "new"], 2):
            doc = next((doc for doc in rankings[team] if doc not in taken), None)
            if doc is not None and len(taken) < SHOWN:
                taken.append(doc)
                clicked = rng.random() < len(taken) ** -0.7 * attraction[query, doc]
                rows.append([session, search, query, doc, len(taken), team, int(clicked)])
    return rows


def _write(path: Path, names: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([names, *rows])


def _write_run(path: Path, values: dict[tuple[str, str], float]) -> None:
    lines = []
    for query in QUERIES:
        docs = sorted(
            (doc for asked, doc in values if asked == query), key=lambda doc: -values[query, doc]
        )
        lines += [
            f"{query} Q0 {doc} {rank} {10 - rank} {path.stem}\n" for rank, doc in enumerate(docs, 1)
        ]
    path.write_text("".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
