"""What people bring: files, ids, and the checks at the boundary. Only this package opens files."""
