"""What people bring: files, ids, and the checks at the boundary. Only this package reads files."""
