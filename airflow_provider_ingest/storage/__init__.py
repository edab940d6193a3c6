"""Where runs, uploaded files and the catalog of importers are kept."""
