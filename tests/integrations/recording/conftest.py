"""A database to search in, and a runner of the action for GitHub."""

from action_steps import environment, runner  # noqa: F401 - fixtures
from postgres_fixtures import postgres_address, postgres_server  # noqa: F401 - fixtures
