"""The benchmarks' memory: what is kept of a run, and what the next one is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.compare import main, worse_figures
from tests.benchmarks.results import KEPT, read_entries, record

ROWS = {"rows": 1000, "rounds": 5}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGEST_BENCH_RESULTS", str(tmp_path))
    return tmp_path


def note(ratio: float, *, settings: dict[str, Any] = ROWS, **more: float) -> Path:
    return record("pipeline", settings, {"import": {"seconds": 1.0, "ratio": ratio, **more}})


def test_a_run_is_kept_with_what_it_ran_on(folder: Path) -> None:
    path = note(1.2)
    told = json.loads(path.read_text())
    (entry,) = told["entries"]
    assert path.parent == folder
    assert told["machine"]["cores"] >= 1
    assert entry["figures"] == {"import": {"seconds": 1.0, "ratio": 1.2}}
    assert entry["on"]["python"]
    assert entry["on"]["packages"]["polars"]


def test_only_so_many_runs_of_one_kind_are_kept(folder: Path) -> None:
    note(1.0, settings={"rows": 7})
    for number in range(KEPT + 3):
        path = note(float(number))
    entries = read_entries(path)
    assert [entry["settings"]["rows"] for entry in entries].count(7) == 1
    assert [entry["figures"]["import"]["ratio"] for entry in entries if entry["settings"] == ROWS] == [
        float(number) for number in range(3, KEPT + 3)
    ]


@pytest.mark.parametrize(
    ("before", "after", "told"), [(1.0, 1.09, []), (1.0, 1.12, ["ratio"]), (1.0, 0.5, []), (0.0, 1.0, [])]
)
def test_a_ratio_more_than_a_tenth_worse_shows(folder: Path, before: float, after: float, told: list[str]) -> None:
    note(before)
    worse = worse_figures(read_entries(note(after)))
    assert [one.measure for one in worse] == told


def test_seconds_may_differ_and_memory_may_not(folder: Path) -> None:
    note(1.0, megabytes=100)
    record("pipeline", ROWS, {"import": {"seconds": 9.0, "ratio": 1.0, "megabytes": 150}})
    (worse,) = worse_figures(read_entries(next(folder.glob("*.json"))))
    assert (worse.figure, worse.measure, worse.before, worse.after) == ("import", "megabytes", 100, 150)


def test_without_a_rival_its_cpu_time_may_not_grow(folder: Path) -> None:
    for cpu in (10.0, 12.0):
        path = record("airflow", ROWS, {"a run": {"seconds": 9.0 * cpu, "cpu": cpu}, "nothing": {"cpu": cpu / 100}})
    assert [(one.figure, one.measure) for one in worse_figures(read_entries(path))] == [("a run", "cpu")]


def test_runs_of_different_sizes_are_not_compared(folder: Path) -> None:
    note(1.0)
    assert worse_figures(read_entries(note(9.0, settings={"rows": 2000, "rounds": 5}))) == []


def test_the_newest_is_compared_with_the_one_before(folder: Path) -> None:
    for ratio in (1.0, 2.0, 2.1):
        path = note(ratio)
    assert worse_figures(read_entries(path)) == []


def test_the_command_ends_with_one_when_something_got_worse(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note(1.0)
    assert main([]) == 0
    note(1.5)
    assert main([]) == 1
    assert "import: ratio 1.00 → 1.50" in capsys.readouterr().out
    assert main(["60"]) == 0
