"""A network's timeline as a page: power states of all motes, frames, energies."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joulemark.analysis.frames import describe_sent
from joulemark.report import page

if TYPE_CHECKING:
    from joulemark.runners.network import RunningNetwork, Slice

_INTERVALS_MAX = 400_000
"""The timeline ends here, because browsers have to draw it."""


class Timeline:
    """Collects the contents of a page.

    Args:
        running: the network.
    """

    def __init__(self, running: "RunningNetwork") -> None:
        self._running = running
        self._states: list[str] = []
        self._tracks: list[dict[str, list[list[int]]]] = [defaultdict(list) for _ in running.seats]
        self._frames: list[list[Any]] = []
        self._count = 0
        self._end_ps = 0
        self._shown_ps: int | None = None

    def add(self, piece: "Slice") -> None:
        """Add a slice of the network's time."""
        self._end_ps = piece.end_ps
        if self._shown_ps is not None:
            return
        for number in range(len(piece.states)):
            for part, intervals in piece.states[number].items():
                track = self._tracks[number][part]
                for interval in intervals:
                    if interval.state not in self._states:
                        self._states.append(interval.state)
                    state = self._states.index(interval.state)
                    start, end = interval.start_ps // 1000, interval.end_ps // 1000
                    # Join an interval that was cut at the end of the previous slice.
                    if track and track[-1][1:] == [start, state, interval.clock_hz]:
                        track[-1][1] = end
                    else:
                        track.append([start, end, state, interval.clock_hz])
                        self._count += 1
        for t in piece.transmissions:
            text = describe_sent(t)
            heard = [[h.mote, h.outcome or "unknown"] for h in t.hearings]
            channel = t.phy.channel(t.frequency_mhz)
            where = f"{t.frequency_mhz} MHz" if channel is None else f"channel {channel}"
            begin, end = t.begin_ps // 1000, min(t.end_ps, piece.end_ps) // 1000
            self._frames.append([t.mote, begin, end, where, text, len(t.frame), heard])
        if self._count + len(self._frames) > _INTERVALS_MAX:
            self._shown_ps = piece.end_ps

    def write(self, path: Path, result: Mapping[str, Any]) -> None:
        """Write the page.

        Args:
            path: the file.
            result: what the command prints as JSON.

        Raises:
            InputError: it cannot be written.
        """
        running = self._running
        motes: list[dict[str, Any]] = []
        for number, told in enumerate(result["motes"]):
            tracks = self._tracks[number]
            order = sorted(tracks, key=lambda part: (part != "radio", part != "mcu", part))
            motes.append(
                {
                    "name": told["mote"],
                    "tracks": [[part, tracks[part]] for part in order],
                }
            )
        data = {
            "motes": motes,
            "names": running.names,
            "states": self._states,
            "frames": self._frames,
            "end": (self._shown_ps or self._end_ps) // 1000,
        }
        html = page.render(
            "network.html.jinja",
            result=result,
            shown_s=None if self._shown_ps is None else self._shown_ps * 1e-12,
            boards=[seat.board.title for seat in running.seats],
            parts=sorted({part for mote in result["motes"] for part in mote["parts_mj"]}),
            packed_data=page.packed(json.dumps(data, separators=(",", ":"))),
            script=(Path(__file__).parent / "network.js").read_text("utf-8"),
        )
        page.write(html, path)
