"""How well a polluted file is read, as the Pollock benchmark counts it: of ten points, one for reading it at all, and
precision, recall and F1 of the header, the records and the cells.

Print the score of every kind on every table: ``python -m tests.unit.formats.pollution_score``
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import read_table
from tests.unit.formats.polluted_tables import TABLES, Clean
from tests.unit.formats.pollution import Polluted, of_a_row, of_the_file

ROWS = (0, 1, 2, 3, 5, 7, -1)
"""The records that are polluted one at a time: the header, the first ones, those of the odd texts, the last one."""


def polluted(table: Clean) -> Iterator[Polluted]:
    """Every pollution of a table."""
    yield from of_the_file(table)
    width = len(table.header)
    columns = range(width) if width < 12 else (0, 1, 2, width // 2, width - 1)
    for at in ROWS:
        yield from of_a_row(table, at % (len(table.rows) + 1), columns)


def score(one: Polluted, path: Path, *, is_given: bool, with_malformed: bool = True) -> float:
    """Points for a file, from 0 to 10.

    :param with_malformed: whether the records that are told as malformed count as they were most probably meant, or
        as not there.
    """
    path.write_bytes(one.data)
    try:
        table = read_table(path, **one.given if is_given else {})
    except FormatError:
        return 0.0
    records = table.records() if with_malformed else [list(row[2:]) for row in table.frame.rows()]
    found = [list(table.columns), *records] if table.facts.get("has_header", True) else records
    meant = one.rows if one.header is None else [one.header, *one.rows]
    parts = (
        _measures(meant[0], found[0] if found else []),
        _measures([_joined(cells) for cells in meant[1:]], [_joined(cells) for cells in found[1:]]),
        _measures([cell for cells in meant for cell in cells], [cell for cells in found for cell in cells]),
    )
    return 1.0 + sum(sum(part) for part in parts)


def _joined(cells: Sequence[str]) -> str:
    return "".join(cells).casefold()


def _measures(meant: Sequence[str], found: Sequence[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two bags."""
    if not meant:
        return 1.0, 1.0, 1.0
    common = sum((Counter(meant) & Counter(found)).values())
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(meant), common / len(found)
    return precision, recall, 2 * precision * recall / (precision + recall)


def main() -> None:
    """Print a line for each kind and table: dialect given and found, malformed records counted and not."""
    ways = [(is_given, counts) for is_given in (True, False) for counts in (True, False)]
    print(f"{'':34}{'given':>9}{'good':>9}{'found':>9}{'good':>9}  worst")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        for table in TABLES:
            scores: dict[str, list[tuple[str, list[float]]]] = defaultdict(list)
            for one in polluted(table):
                points = [score(one, path, is_given=is_given, with_malformed=counts) for is_given, counts in ways]
                scores[one.kind].append((one.name, points))
            for kind, found in scores.items():
                means = "".join(f"{fmean(points[way] for _, points in found):9.3f}" for way in range(len(ways)))
                worst = min(found, key=lambda named: named[1][2])
                print(f"{table.name:12}{kind:22}{means}  {worst[0] if worst[1][2] < 9.995 else ''}")


if __name__ == "__main__":
    main()
