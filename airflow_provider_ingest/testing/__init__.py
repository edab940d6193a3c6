"""What tests of importers, services and operators are built from."""
