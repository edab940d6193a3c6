"""What an importer is: mappings, source, target, key, and the checks of a definition."""
