"""How frames become rows of PostgreSQL, for whoever has a cursor: the targets and the row log."""
