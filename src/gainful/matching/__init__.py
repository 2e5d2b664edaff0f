"""Match runs with judgments into `Matched`, with one file for each kind of input."""
