"""The playground's arithmetic, in one process of Node."""

import pytest

from node_program import Module


@pytest.fixture(scope="session")
def ask():
    """Return a function that calls functions of ndcg.js and lessons.js, each a name and its arguments."""
    module = Module("ndcg.js", "lessons.js")
    yield module
    module.close()


@pytest.fixture(scope="session")
def of_link(ask):
    """Return a function from a link to its state, which has to give the link again."""

    def reading(text):
        (state,) = ask([["fromLink", text]])
        assert not isinstance(state, AssertionError), state
        assert ask([["toLink", state]]) == [text]
        return state

    return reading


@pytest.fixture(scope="session")
def tools(ask):
    (found,) = ask([["TOOLS"]])
    return found
