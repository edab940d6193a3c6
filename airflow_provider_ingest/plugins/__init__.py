"""What Airflow's API server gets: the REST API and the pages."""
