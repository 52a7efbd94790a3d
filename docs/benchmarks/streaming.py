#!/usr/bin/env python3
"""Segue's byte path beside nginx, in one run on one machine: CPU, first byte, memory of slow listeners.

    cargo build --release --example relay -p segue-runtime-tokio
    python3 docs/benchmarks/streaming.py target/release/examples/relay

Needs nginx, wrk and ss (Debian: nginx-light wrk iproute2). Everything listens on loopback, every loop is bounded,
and only what this script started is stopped. Absolute numbers depend on the machine; compare within a run.
"""

import argparse
import contextlib
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BODY = 10 * 1000 * 1000
SMALL_RANGE = "bytes=4096-14335"
TICK = os.sysconf("SC_CLK_TCK")

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
  server {{ listen 127.0.0.1:{port} backlog=4096; root {dir}/music; }}
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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One process that we started, and what the kernel says about it."""

    def __init__(self, name, argv, port):
        self.name, self.port = name, port
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            time.sleep(0.02)
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

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def nginx(directory, name, http, port):
    conf = os.path.join(directory, f"{name}.conf")
    with open(conf, "w") as out:
        out.write(NGINX.format(dir=directory, name=name, http=http))
    return Server(name, ["nginx", "-c", conf, "-p", directory], port)


def wrk(server, connections, seconds, *headers):
    """How many whole responses came in about `seconds`."""
    argv = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    for header in headers:
        argv += ["-H", header]
    argv.append(f"http://127.0.0.1:{server.port}/track")
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


def ask(range_header=None):
    extra = f"Range: {range_header}\r\n" if range_header else ""
    return f"GET /track HTTP/1.1\r\nHost: 127.0.0.1\r\n{extra}\r\n".encode()


def first_byte(server, rounds):
    """Microseconds from the request to the first byte of a small range on one connection: p50 and p99."""
    question, taken = ask(SMALL_RANGE), []
    with socket.create_connection(("127.0.0.1", server.port), 5) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(rounds):
            begin = time.perf_counter_ns()
            stream.sendall(question)
            heard = stream.recv(65536)
            taken.append((time.perf_counter_ns() - begin) / 1000)
            head, _, body = heard.partition(b"\r\n\r\n")
            length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
            missing = length - len(body)
            while missing > 0:
                missing -= len(stream.recv(65536))
    taken.sort()
    return taken[len(taken) // 2], taken[len(taken) * 99 // 100]


def listeners(server, count, size, period, seconds, at):
    """`count` clients, each reading `size` bytes every `period` seconds; memory for each at the moments `at`."""
    base = server.program_kb()
    streams = []
    for _ in range(count):
        stream = socket.create_connection(("127.0.0.1", server.port), 10)
        stream.sendall(ask())
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


def compare_speed(pair, parts, rounds, seconds):
    results = {}
    for _ in range(rounds):
        for server in pair:
            if "relay" in parts:
                value = megabytes_per_cpu(server, seconds)
                results.setdefault(("relay MB per CPU-s", server.name), []).append(value)
            if "small" in parts:
                value = small_requests_per_cpu(server, seconds)
                results.setdefault(("small per CPU-s", server.name), []).append(value)
            if "first" in parts:
                p50, p99 = first_byte(server, 2000)
                results.setdefault(("first byte p50 us", server.name), []).append(p50)
                results.setdefault(("first byte p99 us", server.name), []).append(p99)
    for metric in dict.fromkeys(key for key, _ in results):
        theirs, ours = results[metric, "nginx"], results[metric, "segue"]
        each = " ".join(f"{o / t:.2f}" for o, t in zip(ours, theirs))
        theirs, ours = statistics.median(theirs), statistics.median(ours)
        print(f"{metric:20} nginx {theirs:7.0f}  segue {ours:7.0f}  ratio {ours / theirs:.2f}  ({each})", flush=True)


def show_memory(server, load, arguments):
    count = arguments[0]
    measured, cpu, heard = listeners(server, *arguments)
    for at, program, receive, send in measured:
        print(f"{count:4} {load} {server.name:5} after {at:2} s, KB each: program {program:5.0f}  receive {receive:5.0f}  "
              f"send {send:5.0f}  sum {program + receive + send:5.0f}", flush=True)
    print(f"{count:4} {load} {server.name:5} CPU {cpu:.2f} ms per stream-second; the slowest heard {heard} bytes", flush=True)


LOADS = {
    "slow": (200, 16384, 0.1, 45, (2, 10, 40)),
    "idle": (1000, 1024, 1.0, 20, (3, 18)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("relay", help="the relay example, built with --release")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="of each throughput round")
    parser.add_argument("--only", default="relay,small,first,slow,idle")
    parser.add_argument("--server", default="nginx,segue")
    options = parser.parse_args()
    parts = options.only.split(",")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as cleanup:
        directory = cleanup.enter_context(tempfile.TemporaryDirectory())
        os.mkdir(f"{directory}/music")
        with open(f"{directory}/music/track", "wb") as track:
            track.write(os.urandom(BODY))
        source_port, nginx_port, relay_port = free_port(), free_port(), free_port()
        source = nginx(directory, "source", SOURCE.format(port=source_port, dir=directory), source_port)
        cleanup.callback(source.stop)
        tuned = TUNED_PROXY.format(port=nginx_port, source=source_port)
        relay = [options.relay, f"127.0.0.1:{relay_port}", f"127.0.0.1:{source_port}"]
        starts = {
            "nginx": lambda: nginx(directory, "nginx", tuned, nginx_port),
            "segue": lambda: Server("segue", relay, relay_port),
        }
        if {"relay", "small", "first"} & set(parts):
            with contextlib.ExitStack() as stops:
                pair = [start() for start in starts.values()]
                for server in pair:
                    stops.callback(server.stop)
                compare_speed(pair, parts, options.rounds, options.seconds)
        for load in LOADS.keys() & set(parts):
            for name in options.server.split(","):
                server = starts[name]()
                try:
                    show_memory(server, load, LOADS[load])
                finally:
                    server.stop()


main()
