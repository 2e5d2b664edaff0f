"""What a file holds, as `evaluate` reads it."""

from gainful.inputs.engine import Session
from gainful.inputs.kinds import JUDGMENTS, RUN
from gainful.inputs.source import Source
from gainful.inputs.sources import open_source
from gainful.inputs.texts import ready
from gainful.matching.records import documents_in
from gainful.measures.policy import Policy

KINDS = {"run": RUN, "judgments": JUDGMENTS}


def read_back(path, kind):
    """Return a file as a dict of dicts."""
    with Session() as session:
        opened = open_source(path, KINDS[kind], {}, session)
        assert isinstance(opened, Source)
        return documents_in(session, ready(opened, session), Policy())
