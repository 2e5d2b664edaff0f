"""Everything that people see: text and tables, files, charts."""
