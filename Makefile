# Each of these sets up what it needs; without make, call the scripts.
.PHONY: demo up cluster-demo test lint bench bench-quick torture constraints

demo:  ## Airflow from nothing, products uploaded and imported, the result printed
	@scripts/demo

up:  ## the same, and Airflow stays up
	@scripts/up

cluster-demo:  ## two Celery workers, PostgreSQL, Redis and S3 from nothing, a file imported; add KILL=1 to kill a worker
	@scripts/cluster-demo $(if $(KILL),--kill)

test:  ## the whole test suite
	@scripts/test

lint:  ## style, formatting, types, import contracts
	@scripts/lint

bench:  ## speed and memory beside rivals and other tools, an hour; results and charts go to docs/benchmarks
	@scripts/peers-environment
	@$${INGEST_VENV:-.venv}/bin/python -m tests.benchmarks.everything $(ONLY)
	@$${INGEST_VENV:-.venv}/bin/python -m tests.benchmarks.report

bench-quick:  ## the same with small sizes, in minutes; ONLY="pipeline peers" runs these alone, here and above
	@scripts/peers-environment
	@$${INGEST_VENV:-.venv}/bin/python -m tests.benchmarks.everything --quick $(ONLY)

torture:  ## a hundred workers killed on each database, tasks and servers of whole Airflows, and every row counted
	@scripts/environment dev
	@$${INGEST_VENV:-.venv}/bin/python -m tests.torture 100
	@$${INGEST_VENV:-.venv}/bin/python -m tests.torture.whole_airflow sqlite
	@$${INGEST_VENV:-.venv}/bin/python -m tests.torture.whole_airflow postgres
	@INGEST_TEST_CLUSTER=1 $${INGEST_VENV:-.venv}/bin/python -m pytest -q tests/integration/test_cluster.py

constraints:  ## pin the newest versions that fit, for all Pythons; markers go, since a pin installs nothing by itself
	@scripts/environment dev
	@$${INGEST_VENV:-.venv}/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade \
	    --quiet --no-header --no-annotate --output-file .constraints.tmp
	@sed -E 's/ ;.*//' .constraints.tmp | grep -v -E '^(pywin32|httpx2-jsfetch)==' > constraints.txt
	@rm .constraints.tmp
