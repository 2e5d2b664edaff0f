"""What trec_eval stops at: a message and an exit code."""

# Exit codes: of the options, of a file or a parameter, of a query, and where none is evaluated.
USAGE, BAD_INPUT, BAD_QUERY, NO_QUERIES = 1, 2, 4, 7


class StoppedError(Exception):
    """What trec_eval stops at: its message and its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
