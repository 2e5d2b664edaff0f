"""The entries of the catalogue, by kind of measure."""
