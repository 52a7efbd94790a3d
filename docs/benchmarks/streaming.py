#!/usr/bin/env python3
"""Segue beside nginx in one run on one machine: CPU, first byte, memory of slow listeners, failover.

    cargo build --release --bin segue
    python3 docs/benchmarks/streaming.py target/release/segue

Both relay the same 10 MB file from the same nginx, which also plays a small Subsonic server for Segue to sync from.
One thread each. Everything listens on loopback, every loop is bounded, and only what this script started is
stopped. Needs nginx, wrk and ss (Debian: nginx-light, wrk, iproute2). Compare within a run: absolute numbers are the
machine's.
"""

import argparse
import contextlib
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

BODY = 10 * 1000 * 1000
SMALL_RANGE = "bytes=4096-14335"
TICK = os.sysconf("SC_CLK_TCK")
LOGIN = "u=bench&p=sesame&v=1.16.1&c=bench"

NGINX = """
worker_processes 1;
master_process off;
daemon off;
pid {dir}/{name}.pid;
error_log {dir}/{name}.log crit;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  tcp_nodelay on;
  keepalive_requests 1000000;
  client_body_temp_path {dir}/{name}.body;
  proxy_temp_path {dir}/{name}.proxy;
  fastcgi_temp_path {dir}/{name}.fastcgi;
  uwsgi_temp_path {dir}/{name}.uwsgi;
  scgi_temp_path {dir}/{name}.scgi;
  {http}
}}
"""

SOURCE = """
  sendfile on;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {dir}/source;
    default_type application/json;
    rewrite ^/rest/([A-Za-z0-9]+)(\\.view)?$ /$1;
    location = /stream {{ default_type audio/flac; }}
    location = /download {{ default_type audio/flac; }}
  }}
"""

TUNED_PROXY = """
  upstream source {{ server 127.0.0.1:{source}; keepalive 64; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://source;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering on;
      proxy_buffers 16 64k;
      proxy_buffer_size 64k;
      proxy_busy_buffers_size 128k;
      proxy_max_temp_file_size 0;
    }}
  }}
"""

SEGUE = """
[server]
listen = "127.0.0.1:{port}"
data_dir = "{data}"

[stream]
connect_timeout = "2s"
"""

SEGUE_SOURCE = """
[[sources]]
id = "{id}"
kind = "subsonic"
url = "http://127.0.0.1:{port}"
username = "bench"
password = "sesame"
auth = "password"
"""

SONG = {
    "id": "t1", "parent": "al1", "isDir": False, "title": "Track", "album": "Album", "artist": "Artist",
    "albumId": "al1", "artistId": "ar1", "track": 1, "size": BODY, "suffix": "flac", "contentType": "audio/flac",
    "duration": 100, "bitRate": 800, "type": "music",
}
ALBUM = {"id": "al1", "name": "Album", "artist": "Artist", "artistId": "ar1", "songCount": 1, "duration": 100}
ARTIST = {"id": "ar1", "name": "Artist", "albumCount": 1}
ANSWERS = {
    "ping": {},
    "getMusicFolders": {"musicFolders": {"musicFolder": [{"id": 1, "name": "Music"}]}},
    "getArtists": {"artists": {"ignoredArticles": "", "index": [{"name": "A", "artist": [ARTIST]}]}},
    "getArtist": {"artist": {**ARTIST, "album": [ALBUM]}},
    "getAlbumList2": {"albumList2": {"album": [ALBUM]}},
    "getAlbum": {"album": {**ALBUM, "song": [SONG]}},
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One process that we started, and what the kernel says about it."""

    def __init__(self, name, argv, port, path, env=None):
        self.name, self.port, self.path = name, port, path
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        for _ in range(500):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            time.sleep(0.01)
        self.stop()
        raise SystemExit(f"{name} does not listen")

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def program_kb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1])

    def kernel_kb(self):
        """What its sockets hold: (received and unread, written and unacknowledged)."""
        listing = subprocess.run(["ss", "-tmnpH"], capture_output=True, text=True, check=True)
        receive = send = 0
        for block in re.split(r"\n(?=\S)", listing.stdout):
            if f"pid={self.process.pid}," not in block:
                continue
            memory = re.search(r"skmem:\(r(\d+),rb\d+,t\d+,tb\d+,f\d+,w(\d+)", block)
            if memory:
                receive += int(memory[1])
                send += int(memory[2])
        return receive / 1024, send / 1024

    def ask(self, range_header=None):
        extra = f"Range: {range_header}\r\n" if range_header else ""
        return f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{extra}\r\n".encode()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Bench:
    """The files of one run and how its servers are started."""

    def __init__(self, directory, segue, relay):
        self.dir, self.segue_binary, self.relay_binary = directory, segue, relay
        source = f"{directory}/source"
        os.mkdir(source)
        for method, answer in ANSWERS.items():
            envelope = {"status": "ok", "version": "1.16.1", "type": "bench", **answer}
            with open(f"{source}/{method}", "w") as out:
                json.dump({"subsonic-response": envelope}, out)
        with open(f"{source}/stream", "wb") as out:
            out.write(b"fLaC" + os.urandom(BODY - 4))
        os.link(f"{source}/stream", f"{source}/download")
        self.source_port = free_port()
        self.song = None

    def nginx(self, name, http, port):
        conf = os.path.join(self.dir, f"{name}.conf")
        with open(conf, "w") as out:
            out.write(NGINX.format(dir=self.dir, name=name, http=http))
        return Server(name, ["nginx", "-c", conf, "-p", self.dir], port, "/rest/stream?id=t1")

    def source(self, name="source", port=None):
        port = port or self.source_port
        return self.nginx(name, SOURCE.format(port=port, dir=self.dir), port)

    def tuned(self):
        port = free_port()
        return self.nginx("nginx", TUNED_PROXY.format(port=port, source=self.source_port), port)

    def relay(self):
        port = free_port()
        argv = [self.relay_binary, f"127.0.0.1:{port}", f"127.0.0.1:{self.source_port}"]
        return Server("relay", argv, port, "/rest/stream?id=t1")

    def segue(self, sources=None):
        """A hub over `sources` (id to port), synchronised if it has no data yet."""
        sources = sources or {"home": self.source_port}
        port = free_port()
        data = f"{self.dir}/data-{'-'.join(sources)}"
        config = f"{self.dir}/segue.toml"
        with open(config, "w") as out:
            out.write(SEGUE.format(port=port, data=data))
            for id, source_port in sources.items():
                out.write(SEGUE_SOURCE.format(id=id, port=source_port))
        env = {"SEGUE_ADMIN_USER": "bench", "SEGUE_ADMIN_PASSWORD": "sesame", "SEGUE_LOG": "error",
               "TOKIO_WORKER_THREADS": "1"}
        if not os.path.exists(data):
            argv = [self.segue_binary, "sync", "--config", config]
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **env})
        server = Server("segue", [self.segue_binary, "serve", "--config", config], port, None, env)
        try:
            url = f"http://127.0.0.1:{port}/rest/getRandomSongs?{LOGIN}&f=json"
            with urllib.request.urlopen(url, timeout=10) as reply:
                found = json.load(reply)["subsonic-response"]["randomSongs"]["song"]
            server.path = f"/rest/stream?{LOGIN}&id={found[0]['id']}"
        except Exception:
            server.stop()
            raise
        return server


def wrk(server, connections, seconds, *headers):
    """How many whole responses came in about `seconds`."""
    argv = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    for header in headers:
        argv += ["-H", header]
    argv.append(f"http://127.0.0.1:{server.port}{server.path}")
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        print(said, file=sys.stderr)
    return int(re.search(r"(\d+) requests in", said)[1])


def megabytes_per_cpu(server, seconds):
    before = server.cpu()
    requests = wrk(server, 8, seconds)
    return requests * BODY / 1e6 / (server.cpu() - before)


def small_requests_per_cpu(server, seconds):
    before = server.cpu()
    requests = wrk(server, 8, seconds, f"Range: {SMALL_RANGE}")
    return requests / (server.cpu() - before)


def first_byte(stream, question):
    """Microseconds from the request to the first byte of the response, which is then read to its end."""
    begin = time.perf_counter_ns()
    stream.sendall(question)
    heard = stream.recv(65536)
    taken = (time.perf_counter_ns() - begin) / 1000
    head, _, body = heard.partition(b"\r\n\r\n")
    if not re.match(rb"HTTP/1.1 20[06] ", head):
        raise SystemExit(f"not what was asked for: {head[:200]}")
    missing = int(re.search(rb"content-length: (\d+)", head.lower())[1]) - len(body)
    while missing > 0:
        missing -= len(stream.recv(65536))
    return taken


def connect(server):
    stream = socket.create_connection(("127.0.0.1", server.port), 20)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def first_bytes(server, rounds):
    """p50 and p99 for a small range on one connection."""
    question = server.ask(SMALL_RANGE)
    with connect(server) as stream:
        taken = sorted(first_byte(stream, question) for _ in range(rounds))
    return taken[len(taken) // 2], taken[len(taken) * 99 // 100]


def compare_speed(servers, parts, rounds, seconds):
    results = {}
    for _ in range(rounds):
        for server in servers:
            def note(metric, value):
                results.setdefault(metric, {}).setdefault(server.name, []).append(value)

            if "relay" in parts:
                note("MB per CPU-second", megabytes_per_cpu(server, seconds))
            if "small" in parts:
                note("10 KB ranges per CPU-s", small_requests_per_cpu(server, seconds))
            if "first" in parts:
                p50, p99 = first_bytes(server, 1000)
                note("first byte p50, us", p50)
                note("first byte p99, us", p99)
    for metric, values in results.items():
        line = f"{metric:23}"
        for name, ours in values.items():
            ratios = [o / n for o, n in zip(ours, values["nginx"])]
            ratio = statistics.median(ours) / statistics.median(values["nginx"])
            line += f"  {name} {statistics.median(ours):7.0f}"
            if name != "nginx":
                line += f" = {ratio:.2f} x ({min(ratios):.2f} to {max(ratios):.2f})"
        print(line, flush=True)


def listeners(server, count, size, period, seconds, at):
    """`count` clients, each reading `size` bytes every `period` seconds; memory for each at the moments `at`."""
    base = server.program_kb()
    streams = []
    for _ in range(count):
        stream = socket.create_connection(("127.0.0.1", server.port), 10)
        stream.sendall(server.ask())
        stream.setblocking(False)
        streams.append(stream)
    begin, cpu = time.monotonic(), server.cpu()
    marks, measured, step = list(at), [], 0
    heard = [0] * count
    while time.monotonic() - begin < seconds:
        time.sleep(max(0, begin + step * period - time.monotonic()))
        for index, stream in enumerate(streams):
            with contextlib.suppress(BlockingIOError):
                got = len(stream.recv(size))
                if not got:
                    raise SystemExit(f"{server.name} closed a listener")
                heard[index] += got
        step += 1
        if marks and time.monotonic() - begin >= marks[0]:
            receive, send = server.kernel_kb()
            program = server.program_kb() - base
            measured.append([marks.pop(0), program / count, receive / count, send / count])
    cpu = (server.cpu() - cpu) * 1000 / count / seconds
    for stream in streams:
        stream.close()
    return measured, cpu, min(heard)


def show_memory(server, load, arguments):
    count = arguments[0]
    measured, cpu, heard = listeners(server, *arguments)
    for at, program, receive, send in measured:
        print(f"{count:4} {load} {server.name:5} after {at:2} s, KB each: program {program:5.0f}  receive {receive:5.0f}  "
              f"send {send:5.0f}  sum {program + receive + send:5.0f}", flush=True)
    print(f"{count:4} {load} {server.name:5} CPU {cpu:.2f} ms per stream-second; the slowest heard {heard} bytes", flush=True)


def first_and_second(hub):
    """Milliseconds to the first byte of the first request of a fresh hub, and of the second."""
    question = hub.ask(SMALL_RANGE)
    with connect(hub) as stream:
        return [first_byte(stream, question) / 1000 for _ in range(2)]


@contextlib.contextmanager
def black_hole(port):
    """A listener whose backlog is full: the kernel drops every further attempt to connect, as a dead host would."""
    with contextlib.ExitStack() as held:
        listener = held.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(0)
        for _ in range(4):
            filler = held.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        yield


def compare_failover(bench, rounds):
    """The first source refuses, or swallows connections; the hub is fresh each time, so that no breaker knows."""
    ports = {"a": free_port(), "b": bench.source_port}
    first = bench.source("source-a", ports["a"])
    try:
        bench.segue(ports).stop()
        taken = {"healthy": [], "refused": [], "black hole": []}
        for _ in range(rounds):
            hub = bench.segue(ports)
            taken["healthy"].append(first_and_second(hub))
            hub.stop()
        first.stop()
        for _ in range(rounds):
            hub = bench.segue(ports)
            taken["refused"].append(first_and_second(hub))
            hub.stop()
        with black_hole(ports["a"]):
            for _ in range(rounds):
                hub = bench.segue(ports)
                taken["black hole"].append(first_and_second(hub))
                hub.stop()
    finally:
        first.stop()
    for what, pairs in taken.items():
        for which, values in zip(("first", "second"), zip(*pairs)):
            print(f"first source {what:10} {which:6} request: p50 {statistics.median(values):6.2f} ms  "
                  f"worst {max(values):6.2f} ms", flush=True)


LOADS = {
    "slow": (200, 16384, 0.1, 45, (2, 10, 40)),
    "idle": (1000, 1024, 1.0, 20, (3, 18)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("segue", help="the release binary")
    parser.add_argument("--relay", help="the release build of the example `relay`: the byte path alone, without a hub")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each throughput round")
    parser.add_argument("--only", default="relay,small,first,slow,idle,failover")
    options = parser.parse_args()
    parts = options.only.split(",")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as cleanup:
        directory = cleanup.enter_context(tempfile.TemporaryDirectory())
        bench = Bench(directory, os.path.abspath(options.segue), options.relay)
        cleanup.callback(bench.source().stop)
        starts = [bench.tuned, bench.segue] + ([bench.relay] if options.relay else [])
        if {"relay", "small", "first"} & set(parts):
            with contextlib.ExitStack() as stops:
                servers = [start() for start in starts]
                for server in servers:
                    stops.callback(server.stop)
                compare_speed(servers, parts, options.rounds, options.seconds)
        for load in [load for load in LOADS if load in parts]:
            for start in starts:
                server = start()
                try:
                    show_memory(server, load, LOADS[load])
                finally:
                    server.stop()
        if "failover" in parts:
            compare_failover(bench, max(options.rounds, 7))


main()
