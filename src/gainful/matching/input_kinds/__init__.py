"""The kinds of input: a subclass of `Input` for each."""
