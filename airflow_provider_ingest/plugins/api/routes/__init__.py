"""The routes of the API by subject."""
