"""How far rankings and scores agree or differ."""
