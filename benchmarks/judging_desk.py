"""Time the judging desk: twenty assessors at once, on SQLite and on PostgreSQL, with and without pauses.

The desk is the command itself, in a process of its own, and each assessor a connection that asks as the page does. The
database waits for the disk. What was confirmed is compared with the record afterwards.
"""

import argparse
import os
import platform
import sqlite3
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import gainful as gf
from desk_load import judge_at_once
from desk_server import Command, study
from gainful.output.rendering.table_formats import Table, as_markdown, as_text
from postgres_server import new_schema, running_postgres

_PEOPLE = 20


def measure(address: str, grades: int, pause: float, order: str, turn: int) -> list[str]:
    queries = max(grades // 100, 1)
    study(address, queries=queries, docs=120, depth=120, order=order, overlap=1).close()
    names = [f"assessor {place}" for place in range(_PEOPLE)]
    with tempfile.TemporaryDirectory() as folder:
        desk = Command(folder, "--db", address, *(x for name in names for x in ("--invite", name)))
        links = desk.start(1 + _PEOPLE)
        del links["lead"]
        load = judge_at_once(links, pause=pause, most=grades // _PEOPLE)
        desk.end()
    assert not load.refused, load.refused[:3]
    with gf.judging.Study(address) as judged:
        record = {(each.assessor, each.id, each.item, each.after.grade) for each in judged.record()}
    assert record == {(name, event, item, grade) for name, _, event, item, grade in load.confirmed}
    assert all(len(names) == 1 for names in load.given.values())
    kind = "PostgreSQL" if address.startswith("postgresql:") else "SQLite"
    return [
        f"{kind}, {f'a grade each {pause:g} s' if pause else 'no pauses'}, turn {turn}",
        f"{len(load.confirmed):,}",
        f"{len(load.seconds):,}",
        f"{len(load.seconds) / load.elapsed:.0f}",
        *(f"{load.milliseconds(share):.1f} ms" for share in (0.5, 0.95, 0.99, 1.0)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grades", type=int, default=4000, help="of all assessors together")
    parser.add_argument(
        "--pause", type=float, default=0.5, help="seconds between two of one's grades"
    )
    parser.add_argument("--turns", type=int, default=2, help="how often each is measured, in turns")
    parser.add_argument("--order", default="effect", choices=["effect", "random", "rank"])
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--no-pauses", action="store_true", help="leave those with pauses out")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_args()
    rows = []
    with running_postgres(waits_for_disk=True) as server, tempfile.TemporaryDirectory() as folder:
        for turn in range(1, options.turns + 1):
            for pause in (0.0,) if options.no_pauses else (0.0, options.pause):
                name = f"study{turn}{'p' if pause else ''}"
                places = {
                    "sqlite": lambda name=name: str(Path(folder) / f"{name}.db"),
                    "postgresql": lambda name=name: new_schema(server, name),
                }
                for kind, place in places.items():
                    if options.only in (None, kind):
                        row = measure(place(), options.grades, pause, options.order, turn)
                        rows.append(row)
                        print(*row, sep=" | ", file=sys.stderr, flush=True)
    columns = ["desk", "grades", "requests", "a second", "median", "95 %", "99 %", "slowest"]
    said = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores"
    print((as_markdown if options.markdown else as_text)(Table(columns, rows, notes=[said])))


if __name__ == "__main__":
    main()
