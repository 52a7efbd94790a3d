#!/usr/bin/env python3
"""What looking songs up costs: CPU of the worker for a song, and how long a race takes.

    cargo build --release --bin segue
    python3 docs/benchmarks/lyrics.py target/release/segue

The real program, asked through its webhook, with providers that this script plays on loopback: they answer at once, or
after 50 and 400 ms. Only what this script started is stopped. Compare within a run: absolute numbers are the machine's.
"""

import argparse
import base64
import contextlib
import http.server
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

TICK = os.sysconf("SC_CLK_TCK")
LOGIN = "Basic " + base64.b64encode(b"bench:sesame").decode()
DEADLINE = 300


class Provider:
    """An LRCLIB record for whatever is asked, after `delay` seconds."""

    def __init__(self, delay, synced):
        provider = self
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                provider.asked.append(time.monotonic())
                query = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.path).query))
                time.sleep(delay)
                body = json.dumps(record(query, synced)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def record(query, synced):
    """Forty lines that are this song's alone: the same words for many songs would be taken for a decoy."""
    title = query.get("track_name", "")
    lines = [f"line {n} of {title}, {hash((title, n)) % 10**6}" for n in range(40)]
    # Evenly spaced stamps would be taken for made-up ones.
    stamps = [3 * n + hash((n, title)) % 200 / 100 for n in range(40)]
    timed = [f"[{int(s) // 60:02}:{s % 60:05.2f}]{line}" for s, line in zip(stamps, lines)]
    return {
        "id": 1,
        "trackName": title,
        "artistName": query.get("artist_name"),
        "albumName": None,
        "duration": None,
        "instrumental": False,
        "plainLyrics": "\n".join(lines),
        "syncedLyrics": "\n".join(timed) if synced else None,
    }


class Hub:
    """`segue serve` on a data directory of its own."""

    def __init__(self, program, directory, config):
        self.base = f"http://127.0.0.1:{free_port()}"
        path = pathlib.Path(directory, "segue.toml")
        listen = urllib.parse.urlparse(self.base).netloc
        path.write_text(f'[server]\nlisten = "{listen}"\ndata_dir = "{directory}/data"\n{config}')
        environment = dict(os.environ, SEGUE_ADMIN_USER="bench", SEGUE_ADMIN_PASSWORD="sesame")
        self.process = subprocess.Popen(
            [program, "serve", "--config", path],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=open(pathlib.Path(directory, "hub.log"), "w"),
        )
        until(lambda: self.get("/readyz") is not None)

    def get(self, path, body=None):
        request = urllib.request.Request(self.base + path, data=body, headers={"Authorization": LOGIN})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.read()
        except OSError:
            return None

    def enqueue(self, count):
        tracks = [{"title": f"Song Number {n}"} for n in range(count)]
        for first in range(0, count, 500):
            event = {
                "eventType": "Download",
                "artist": {"name": "The Benchmarks"},
                "tracks": tracks[first : first + 500],
            }
            assert self.get("/api/v1/webhooks/lidarr", json.dumps(event).encode()) is not None

    def done(self):
        return json.loads(self.get("/api/v1/queue"))["counts"]["done"]

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(reached):
    end = time.monotonic() + DEADLINE
    while not reached():
        if time.monotonic() > end:
            raise SystemExit("gave up waiting")
        time.sleep(0.25)


def configuration(mode, workers, lanes):
    first, *others = lanes
    text = f'[queue]\nworkers = {workers}\n[providers]\nmode = "{mode}"\nrace_wait_seconds = 2\n'
    text += f'primary = "{first}"\nfallback_order = {json.dumps(others)}\ndisabled = ["local", "subsonic"]\n'
    for name, provider in lanes.items():
        url = provider.url + "/api/get?artist_name={artist}&track_name={title}"
        text += f'[[providers.http]]\nname = "{name}"\nurl = "{url}"\nspacing = "1ms"\n'
    return text


@contextlib.contextmanager
def hub(program, config):
    with tempfile.TemporaryDirectory() as directory:
        running = Hub(program, directory, config)
        try:
            yield running
        finally:
            running.stop()


def cost(program, count):
    """CPU of the whole process for a song: claim, exchange, acceptance, commit."""
    provider = Provider(0, synced=True)
    with hub(program, configuration("ordered", 2, {"quick": provider})) as running:
        time.sleep(1)
        before, began = running.cpu(), time.monotonic()
        running.enqueue(count)
        until(lambda: running.done() == count)
        spent, took = running.cpu() - before, time.monotonic() - began
    print(f"CPU of a song, its HTTP exchange included: {1000 * spent / count:.2f} ms ({count} songs in {took:.1f} s)")


def race(program, count):
    """From one song's first request to the next one's, with one worker: the time to a commit, and all around it."""
    plain, synced = Provider(0.05, synced=False), Provider(0.4, synced=True)
    with hub(program, configuration("parallel", 1, {"plain": plain, "synced": synced})) as running:
        running.enqueue(count)
        until(lambda: running.done() == count)
        page = json.loads(running.get(f"/api/v1/queue?status=done&limit={count}"))
    gaps = [1000 * (b - a) for a, b in zip(plain.asked, plain.asked[1:])]
    timed = sum(item["quality"] == "line" for item in page["items"])
    print(f"race of 50 ms plain and 400 ms synced: p50 {statistics.median(gaps):.0f} ms, worst {max(gaps):.0f} ms; "
          f"{timed} of {count} synced")


def ordered(program, count):
    """A hit of the first lane asks no other."""
    first, second = Provider(0, synced=True), Provider(0, synced=True)
    with hub(program, configuration("ordered", 1, {"first": first, "second": second})) as running:
        running.enqueue(count)
        until(lambda: running.done() == count)
    print(f"ordered, {count} hits of the first lane: {len(first.asked)} requests to it, {len(second.asked)} to the second")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--songs", type=int, default=1000)
    options = parser.parse_args()
    cost(options.program, options.songs)
    race(options.program, 40)
    ordered(options.program, 40)


if __name__ == "__main__":
    main()
