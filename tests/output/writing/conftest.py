"""A PostgreSQL server, for SQL."""

from postgres_fixtures import postgres_address, postgres_server  # noqa: F401 - fixtures
