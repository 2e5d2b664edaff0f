"""A runner of the action for GitHub."""

from action_steps import environment, runner  # noqa: F401 - fixtures
