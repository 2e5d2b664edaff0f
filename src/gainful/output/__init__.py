"""What people get to see: text and tables, files, charts."""
