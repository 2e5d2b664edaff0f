"""trec_eval: its measures by its names, its options and its output."""
