"""Twenty assessors at once, over HTTP, at two desks of one study, each a process of its own."""

from collections import Counter
from urllib.parse import urlsplit

import gainful as gf
from desk_load import grade_of, judge_at_once
from desk_server import Client, Command, study
from gainful.judging.desk import assessor_acts

PEOPLE = [f"assessor {place:02}" for place in range(20)]
OVERLAP = 2


def test_twenty_assessors_at_two_desks_lose_nothing(tmp_path, address, deep):
    """Each act is sent twice, as by a page that has lost the answer. Several thousand grades with --deep."""
    queries, docs = (20, 100) if deep else (5, 25)
    study(address, queries=queries, docs=docs, depth=docs, overlap=OVERLAP, order="effect").close()
    desks, links = [], {}
    for mine in (PEOPLE[::2], PEOPLE[1::2]):
        invited = [word for name in mine for word in ("--invite", name)]
        desks.append(Command(tmp_path, "--db", address, *invited))
        links |= desks[-1].start(1 + len(mine))
    lead = urlsplit(links.pop("lead"))
    load = judge_at_once(links, twice=True)
    # Both desks know the lead, by the link of the one that was started last.
    assert [Client(links[name]).get(lead.path).status for name in PEOPLE[:2]] == [200, 200]
    assert [desk.end()[1].count("Traceback") for desk in desks] == [0, 0]
    assert load.refused == []

    documents, grades = queries * docs, queries * docs * OVERLAP
    # Each grade was confirmed as it was sent, and twice the same.
    assert len(load.confirmed) == len({*load.confirmed}) == grades
    assert all(grade == grade_of(name, item) for name, _, _, item, grade in load.confirmed)
    # Nobody was given a document that enough others had in hand or had done.
    assert {len(names) for names in load.given.values()} == {OVERLAP}

    with gf.judging.Study(address) as judged:
        record = [*judged.record()]
        assert [event.id for event in record] == [*range(1, grades + 1)]
        assert Counter(
            (event.assessor, event.id, event.item, event.after.grade) for event in record
        ) == Counter((name, event, item, grade) for name, _, event, item, grade in load.confirmed)
        assert judged.grades() == grades_of(record)
        assert len(assessor_acts.derive(record)) == grades
        progress = judged.progress()
        assert (progress.items, progress.done) == (documents, documents)
        assert (progress.several, progress.grades) == (documents, grades)
        assert all(judged.assessor(name).next() == [] for name in PEOPLE)


def grades_of(record):
    """Return the grades that a record of nothing but grades comes to."""
    found = {}
    for event in record:
        assert event.kind == "grade"
        found.setdefault(event.query, {}).setdefault(event.doc, {})[event.owner] = event.after.grade
    return found
