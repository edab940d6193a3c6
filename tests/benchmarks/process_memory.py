"""The peak memory of every process of a session, by what the processes call themselves."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

EVERY_SECONDS = 0.05


@dataclass
class PeakMemory:
    """Watches the processes of a session while the block runs.

    ``peaks`` then holds the kernel's own high-water mark (``VmHWM``, megabytes) by process id and title; a process
    that changes its title, as executor workers do, is noted under each.
    """

    session: int
    peaks: dict[tuple[int, str], float] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._stopped = threading.Event()
        self._strangers: set[str] = set()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self._stopped.set()
        self._thread.join()

    def of(self, *words: str) -> float:
        """The largest peak among the processes whose title has one of the words."""
        return max((peak for (_, title), peak in self.peaks.items() if any(word in title for word in words)), default=0)

    def _watch(self) -> None:
        while not self._stopped.wait(EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        for process in Path("/proc").iterdir():
            if not process.name.isdigit() or process.name in self._strangers:
                continue
            with suppress(OSError, IndexError, StopIteration):
                if int((process / "stat").read_text().rpartition(")")[2].split()[3]) != self.session:
                    self._strangers.add(process.name)
                    continue
                title = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                lines = (process / "status").read_text().splitlines()
                peak = next(line for line in lines if line.startswith("VmHWM:")).split()[1]
                key = int(process.name), title
                self.peaks[key] = max(self.peaks.get(key, 0.0), int(peak) / 1024)
