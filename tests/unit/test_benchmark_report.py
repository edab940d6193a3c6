"""What is written of the benchmarks: goals, tables between marks, charts."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from tests.benchmarks.bar_chart import Bar, bar_chart
from tests.benchmarks.bench_pipeline import COPY, MERGE, RIVALS
from tests.benchmarks.goals import goals_table
from tests.benchmarks.plots import memory, pipeline
from tests.benchmarks.report import with_results
from tests.benchmarks.results import largest
from tests.benchmarks.whole_runs import beyond_own, chunks_table, table

ONE: dict[str, float] = {"seconds": 2.0, "cpu": 1.0, "server_cpu": 1.0, "rows": 1e6, "megabytes": 300.0}
ON = {
    "at": "2026-01-02T03:04:05+00:00", "commit": "abc", "load": 0.5, "system": "Linux 6", "python": "3.11.7",
    "postgresql": "16.1", "packages": {"polars": "2.1.0"},
}  # fmt: skip


def entry(ratio: float, rows: int = 1_000_000) -> dict[str, Any]:
    return {
        "benchmark": "pipeline",
        "settings": {"rows": rows, "rounds": 5},
        "on": ON,
        "figures": {name: {**ONE, "ratio": ratio, "cpu_ratio": 1.5} for name in RIVALS},
        "rivals": {COPY: ONE, MERGE: ONE},
    }


def kept(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"machine": {"cpu": "CPU", "cores": 2, "memory_gb": 24}, "entries": list(entries)}


def test_what_is_told_is_the_newest_of_the_largest_runs() -> None:
    runs = [entry(1.0), entry(2.0), entry(3.0, rows=1000)]
    assert largest(runs, "pipeline") is runs[1]
    assert largest(runs, "peers") is None


def test_of_whole_runs_the_newest_of_each_size_is_told() -> None:
    def run(seconds: float, *sizes: int) -> dict[str, Any]:
        figures = {f"{rows:,} rows": {"seconds": seconds} for rows in sizes}
        settings = {"rows": list(sizes), "rounds": 1}
        return {"benchmark": "airflow", "settings": settings, "on": ON, "figures": figures, "rivals": {}}

    told = largest([run(1.0, 1000, 10_000), run(2.0, 10_000, 100_000)], "airflow")
    assert told is not None
    assert [one["seconds"] for one in told["figures"].values()] == [1.0, 2.0, 2.0]


def test_a_goal_is_kept_or_missed_or_was_not_measured() -> None:
    lines = goals_table([entry(1.17)]).splitlines()
    assert "| ≤ 1.15 × | 1.17 × | **missed** |" in lines[2]
    assert "| ≤ 1.2 × | 1.17 × | kept |" in lines[4]
    assert "not measured" in lines[5]


def test_only_what_stands_between_the_marks_of_a_measured_benchmark_is_written_anew() -> None:
    rest = "between\n<!-- measured: peers -->\nkept\n<!-- end -->\n"
    page = f"before\n<!-- measured: pipeline -->\nold\n<!-- end -->\n{rest}"
    written = with_results(page, kept(entry(1.0)))
    assert "old" not in written
    assert written.startswith("before\n<!-- measured: pipeline -->\n| |")
    assert "1,000,000 rows, medians of 5 rounds, 2026-01-02, commit abc" in written
    assert written.endswith(rest)
    assert with_results(written, kept(entry(1.0))) == written


def test_a_chart_is_valid_xml_that_shows_each_bar_and_knows_the_dark() -> None:
    bars = [
        Bar(label="a < b", value=0.4, shown="0.40", kind="ours", goal=1.0),
        Bar(label="c", value=30, shown="30", kind="bare"),
    ]
    chart = bar_chart("Title & more", "told", bars, [("ours", "us"), ("goal", "goal")])
    texts = [element.text for element in ElementTree.fromstring(chart).iter("{http://www.w3.org/2000/svg}text")]
    assert {"Title & more", "a < b", "0.40", "30", "us"} <= set(texts)
    assert "prefers-color-scheme: dark" in chart


def test_the_chart_of_the_pipeline_has_a_line_for_each_way() -> None:
    chart = ElementTree.fromstring(pipeline(entry(1.3)))
    shown = [element.text for element in chart.iter("{http://www.w3.org/2000/svg}text")]
    assert shown.count("1.30") == len(RIVALS)


def test_the_chart_of_memory_leaves_out_what_was_measured_for_its_time_alone() -> None:
    grown = entry(1.0) | {"figures": {"plan": ONE, "COPY": {"seconds": 2.0}}, "rivals": {"COPY": {"seconds": 1.0}}}
    shown = [element.text for element in ElementTree.fromstring(memory(grown)).iter()]
    assert "plan" in shown
    assert "COPY" not in shown


def test_a_whole_run_is_told_beside_one_of_a_tenth_and_beyond_what_airflow_takes_itself() -> None:
    figures = {
        "1,000 rows": {"seconds": 5.0, "cpu": 4.0, "server_cpu": 1.0, "chunks": 1},
        "1,000 rows: plan": {"megabytes": 200.0},
        "10,000 rows": {"seconds": 6.0, "cpu": 4.0, "server_cpu": 1.0, "chunks": 1},
        "10,000 rows: plan": {"megabytes": 210.0},
    }
    own = {"Airflow's own: trivial": {"megabytes": 150.0}}
    assert beyond_own(figures, own) == {
        "1,000 rows: plan": {"beyond": 50.0},
        "10,000 rows": {"growth": 1.2},
        "10,000 rows: plan": {"beyond": 60.0},
    }
    assert "| plan | 150 | +50 | +60 |" in table(figures, own)


def test_of_many_chunks_the_price_of_one_and_the_scheduler_are_told() -> None:
    figures = {
        "a run": {"seconds": 300.0, "cpu": 0.5, "server_cpu": 0.02},
        "age of the scheduler's heartbeat": {"median": 2.0, "highest": 6.0},
        "scheduler": {"megabytes": 180.0},
    }
    told = chunks_table(figures)
    assert "300 s from POST" in told
    assert "| age of the scheduler's heartbeat | 2.00 | 6.00 |" in told
    assert told.endswith("Highest megabytes: scheduler 180.")


def test_a_run_with_other_settings_of_airflow_is_not_what_is_told() -> None:
    plain, tuned = entry(1.0), entry(2.0)
    tuned["settings"]["AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL"] = "1"
    assert largest([plain, tuned], "pipeline") is plain


def test_the_history_tells_runs_of_one_size_newest_first() -> None:
    runs = kept(entry(1.5), entry(9.0, rows=1000), entry(1.25))
    page = with_results("<!-- measured: history -->\n<!-- end -->", runs)
    assert [line.split(" | ")[2] for line in page.splitlines()[3:-1]] == ["1.25 ×", "1.50 ×"]
