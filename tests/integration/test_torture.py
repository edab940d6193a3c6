"""The short form of ``make torture``: processes that are killed while they work the chunks of a run."""

from __future__ import annotations

import pytest

from tests.torture.torture import torture


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_every_row_is_there_once_however_often_workers_are_killed(request, tmp_path, database):
    result = torture(tmp_path, request.getfixturevalue(f"{database}_url"), kills=6, random_seed=3)
    assert not result.problems
    assert sum(result.kills.values()) >= 3, "hardly anything was killed, so this shows nothing"
