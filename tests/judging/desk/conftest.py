"""The databases of the tests of studies: a file, and a real PostgreSQL server."""

import pytest

from postgres_fixtures import postgres_address, postgres_server  # noqa: F401 - fixtures


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """Return where a study can be made, in each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgres_address")
