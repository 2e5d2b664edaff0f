"""Measures for queries with subtopics: several intents, or several results that are equally good."""
