"""What a server counts, in the text form of Prometheus."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections import Counter

TYPE = "text/plain; version=0.0.4; charset=utf-8"
STEPS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """Counters; each is changed under a lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._steps: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._reloads: Counter[str] = Counter()
        self._started = time.time()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request is done."""
        with self._lock:
            self._requests[method, route, status] += 1
            steps = self._steps.setdefault(route, [0] * (len(STEPS) + 1))
            steps[bisect_left(STEPS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def tokens(self, model: str, n: int) -> None:
        """So many tokens were read."""
        with self._lock:
            self._tokens[model] += n

    def reloaded(self, event: str) -> None:
        """A file was loaded anew, or could not be."""
        with self._lock:
            self._reloads[event] += 1

    def text(self, busy: int, models: list[tuple[str, str]]) -> str:
        """All of it."""
        with self._lock:
            lines = ["# HELP chainfield_requests_total Requests by route and status."]
            lines += ["# TYPE chainfield_requests_total counter"]
            for (method, route, status), n in sorted(self._requests.items()):
                lines.append(f'chainfield_requests_total{{method="{method}",route="{route}",status="{status}"}} {n}')
            lines += ["# HELP chainfield_request_seconds Time from the first byte read to the last one written."]
            lines += ["# TYPE chainfield_request_seconds histogram"]
            for route, steps in sorted(self._steps.items()):
                total = 0
                for step, n in zip((*map(str, STEPS), "+Inf"), steps, strict=True):
                    total += n
                    lines.append(f'chainfield_request_seconds_bucket{{route="{route}",le="{step}"}} {total}')
                lines.append(f'chainfield_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}')
                lines.append(f'chainfield_request_seconds_count{{route="{route}"}} {total}')
            lines += ["# HELP chainfield_tokens_total Tokens read, by model.", "# TYPE chainfield_tokens_total counter"]
            lines += [f'chainfield_tokens_total{{model="{_quoted(name)}"}} {n}' for name, n in self._tokens.items()]
            lines += [
                "# HELP chainfield_reloads_total Model files that changed.",
                "# TYPE chainfield_reloads_total counter",
            ]
            lines += [f'chainfield_reloads_total{{event="{event}"}} {n}' for event, n in self._reloads.items()]
        lines += ["# HELP chainfield_busy Requests in threads, or waiting for one.", "# TYPE chainfield_busy gauge"]
        lines += [f"chainfield_busy {busy}"]
        lines += ["# HELP chainfield_model_info Models that are served.", "# TYPE chainfield_model_info gauge"]
        lines += [f'chainfield_model_info{{model="{_quoted(a)}",version="{_quoted(b)}"}} 1' for a, b in models]
        lines += ["# TYPE process_start_time_seconds gauge", f"process_start_time_seconds {self._started:.3f}"]
        memory = _resident()
        if memory is not None:
            lines += ["# TYPE process_resident_memory_bytes gauge", f"process_resident_memory_bytes {memory}"]
        return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _resident() -> int | None:
    """Bytes of memory, where the system tells."""
    try:
        with open("/proc/self/statm", encoding="ascii") as found:
            return int(found.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
