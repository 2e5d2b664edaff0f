"""What is wrong, or probably not meant, in judgments and runs, before anything is measured."""
