"""Sources: how the file of a run is fetched."""
