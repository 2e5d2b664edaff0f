"""Several runs as one: methods of fusion, and the choice of their settings by judgments."""
