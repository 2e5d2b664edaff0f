"""A real PostgreSQL server for histories in it."""

from postgres_fixtures import postgres_address, postgres_server  # noqa: F401 - fixtures
