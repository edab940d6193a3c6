"""How a chunk is executed: the compiled plan over columns."""
