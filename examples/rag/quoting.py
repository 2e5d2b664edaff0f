"""A function that plays a model that quotes passages. It compares words, so it misses what is said in other words.

`quote` takes a prompt as `gf.judging.collect_evidence` writes it and answers as a model would, without a network.
"""

import re

COMMON = re.compile(
    "(a|an|and|are|can|do|doe|for|have|how|i|if|in|it|many|much|my|of|on|or|the|to|what|when|who)"
)
ENOUGH = 2  # words of the question in a sentence


def quote(prompt: str) -> str:
    """Answer a prompt: a line with each sentence of the text that shares two words with the question."""
    question, text = re.search(
        r"The question:\n(.+)\n\nThe text:\n(.*)\n\nHow to copy:", prompt, re.DOTALL
    ).groups()
    wanted = {word for word in words_in(question) if not COMMON.fullmatch(word)}
    sentences = re.split(r"(?<=[.!?])\s+|\n\n", text)
    found = [one for one in sentences if len(wanted & words_in(one)) >= ENOUGH and one[0] != "#"]
    return "\n".join(f"passage: {one}" for one in found) or "passage: none"


def words_in(text: str) -> set[str]:
    """Return the words of a text, without a plural.

    >>> sorted(words_in("Days of leave"))
    ['day', 'leave', 'of']
    """
    return {word.rstrip("s") for word in re.findall(r"\w+", text.lower())}
