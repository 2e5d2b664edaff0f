"""How each family is computed from a worksheet, by kind of measure."""
