"""Read and check user input: files, data frames, objects and ids. No other package reads files."""
