"""The tasks of an importer's DAG, the factory that makes it, and operators for other DAGs."""
