"""Runs whose chunks are killed again and again: ``python -m tests.torture [kills] [seed] [database]``."""
