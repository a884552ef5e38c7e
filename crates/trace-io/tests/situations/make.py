#!/usr/bin/env python3
"""Makes the captures of this directory: kernel TCP in situations that are known, over paths drawn from a seed.

    cargo build -p longhaul-cli
    python3 make.py --longhaul ../../../../target/debug/longhaul --seed 7 --out .

Needs root, Python 3.11, iproute2, tcpdump and ethtool. Nothing leaves the machine: a sending host and a receiving host, each in
a network namespace behind a router of its own, are joined by `longhaul link`. One capture is made at a time, by tcpdump, at the
sender or at the receiver; half of the situations have segmentation and receive offload on. `truth.json` says what each one
is. Files hold headers only: payload is cut by the snapshot length, checksums are zeroed so that they compress.

`--only KIND` makes some; the other paths stay what the seed says. `--parallel` is not offered: captures disturb each other.
"""

import argparse
import fcntl
import gzip
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

SENDER, RECEIVER, NOWHERE = "10.9.1.2", "10.9.3.2", "10.9.3.77"
NAMES = {"sender": "lhcapS", "near": "lhcapA", "far": "lhcapB", "receiver": "lhcapR"}
# Behind Ethernet's header: 60 bytes of IP and TCP with the options that Linux uses, and some to spare.
SNAPLEN = 94
SEGMENT = 1448

# What the report should name first, by kind of situation; none where nothing is wrong.
EXPECTED = {
    "pauses": "application",
    "paced": "application",
    "send-buffer": "send_buffer",
    "bufferbloat": "bufferbloat",
    "slow-start": "slow_start",
    "receive-window": "receive_window",
    "slow-reader": "slow_reader",
    "random-loss": "losses",
    "outage": "timeouts",
    "reordering": "spurious_retransmissions",
    "refused": "refused",
    "unanswered": "never_answered",
    "one-way": "one_direction",
    "capture-loss": "capture_lost",
    "echo": "too_little",
    "healthy": None,
}
SET = (
    ["pauses", "paced"]
    + ["send-buffer"] * 2
    + ["bufferbloat"] * 2
    + ["slow-start"] * 2
    + ["receive-window"] * 2
    + ["slow-reader"]
    + ["random-loss"] * 2
    + ["outage", "reordering", "refused", "unanswered", "one-way", "capture-loss", "echo"]
    + ["healthy"] * 5
)


# A link whose packets leave later than this says nothing of the path that was asked for.
LATE_MS = 2
ATTEMPTS = 4
# Where the truth is a queue, it is measured by other means than TCP.
PROBED = ("bufferbloat", "healthy")


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def inside(name, *command):
    return ("ip", "netns", "exec", NAMES[name], *command)


# ---------------------------------------------------------------- what is drawn


def between(rng, low, high):
    """Draws from a range, evenly on a logarithmic scale."""
    return low * (high / low) ** rng.random()


def draw(rng, kind, at_receiver, offload):
    """Draws the path and the application of one situation."""
    rtt = between(rng, 20, 100)
    rate = between(rng, 6, 25)
    case = {
        "kind": kind,
        "expected": EXPECTED[kind],
        "at": "receiver" if at_receiver else "sender",
        "offload": offload,
        "sender_connects": rng.random() < 0.5,
        "control": "cubic",
        "bytes": 4_000_000,
        "buffer_ms": None,
        "link": "",
    }
    if kind == "pauses":
        case |= {"bytes": 0, "chunk": int(between(rng, 20_000, 150_000)), "pause": between(rng, 0.4, 1.5), "count": 7}
    elif kind == "paced":
        pause = between(rng, 0.01, 0.08)
        share = between(rng, 0.1, 0.45)
        chunk = int(share * rate * 1e6 / 8 * pause) | 1
        case |= {"bytes": 0, "chunk": chunk, "pause": pause, "count": int(min(5 / pause, 3_500 * SEGMENT / chunk))}
    elif kind in ("send-buffer", "receive-window"):
        rate, rtt = between(rng, 15, 40), between(rng, 50, 150)
        case |= {"socket_buffer": int(between(rng, 0.15, 0.45) * rate * rtt * 125), "bytes": 3_000_000}
    elif kind == "bufferbloat":
        rate, rtt = between(rng, 5, 15), between(rng, 15, 60)
        case |= {"buffer_ms": between(rng, 250, 600), "bytes": 5_000_000, "control": rng.choice(["reno", "cubic"])}
    elif kind == "slow-start":
        rate, rtt = between(rng, 30, 80), between(rng, 80, 200)
        case |= {"bytes": int(between(rng, 0.3, 0.7) * rate * rtt * 125)}
    elif kind == "slow-reader":
        reads = int(between(rng, 8_000, 20_000))
        pause = reads / (between(rng, 0.15, 0.3) * rate * 1e6 / 8)
        case |= {"socket_buffer": 60_000, "reads": reads, "read_pause": pause, "bytes": 2_000_000}
    elif kind == "random-loss":
        rate, rtt = between(rng, 15, 40), between(rng, 40, 100)
        case |= {"link": f"loss={between(rng, 1, 3):.2f}%", "bytes": 2_500_000}
    elif kind == "outage":
        case |= {"outage": between(rng, 1.2, 3), "bytes": 3_000_000}
    elif kind == "reordering":
        # Later than a reordering window can ever be (RFC 8985 §6.2): a round trip.
        rtt = between(rng, 10, 25)
        late = f"{between(rng, 1, 4):.2f}%/{2.5 * rtt:.0f}ms/late"
        case |= {"link": f"reorder={late}", "bytes": 3_000_000}
    elif kind == "one-way":
        case |= {"bytes": 2_000_000}
    elif kind == "capture-loss":
        case |= {"capture_loss": between(rng, 0.02, 0.08), "bytes": 3_000_000}
    elif kind == "healthy":
        rate = between(rng, 10, 25)
        control = rng.choice(["cubic", "cubic", "reno", "bbr"])
        rtt = between(rng, 20, 80) if control == "bbr" else between(rng, 18, 25)
        case |= {"control": control, "buffer_ms": rtt * between(rng, 0.9, 1.2), "bytes": 6_000_000}
    case["rate_mbit"], case["rtt_ms"] = round(rate, 2), round(rtt, 1)
    if case["buffer_ms"] is None:
        case["buffer_ms"] = max(rtt, 20)
    case["buffer_ms"] = round(case["buffer_ms"], 1)
    return case


# ---------------------------------------------------------------- the hosts and the path


class World:
    """Two hosts, two routers, and the link between these."""

    def __init__(self, longhaul, case, control_socket):
        self.control_socket, self.longhaul = control_socket, longhaul
        self.remove()
        for name in NAMES.values():
            run("ip", "netns", "add", name)
        try:
            self.hosts(case)
            self.link(case)
        except BaseException:
            self.close()
            raise

    def hosts(self, case):
        for host, router, net in (("sender", "near", 1), ("receiver", "far", 3)):
            run("ip", "link", "add", "eth0", "netns", NAMES[host], "type", "veth", "peer", "name", "lan", "netns", NAMES[router])
            run(*inside(host, "ip", "addr", "add", f"10.9.{net}.2/24", "dev", "eth0"))
            run(*inside(router, "ip", "addr", "add", f"10.9.{net}.1/24", "dev", "lan"))
            for name, device in ((host, "eth0"), (host, "lo"), (router, "lan"), (router, "lo")):
                run(*inside(name, "ip", "link", "set", device, "up"))
            run(*inside(host, "ip", "route", "add", "default", "via", f"10.9.{net}.1"))
            run(*inside(router, "sysctl", "-qw", "net.ipv4.ip_forward=1"))
            state = "on" if case["offload"] else "off"
            run(*inside(host, "ethtool", "-K", "eth0", "tso", state, "gso", state, "gro", state))
            run(*inside(router, "ethtool", "-K", "lan", "gro", "off"))
            run(*inside(host, "sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1"))
        run(*inside("far", "ip", "route", "add", "blackhole", NOWHERE))

    def link(self, case):
        rate, delay = case["rate_mbit"], case["rtt_ms"] / 2
        buffer = max(int(case["buffer_ms"] * rate * 125), 10_000)
        there = f"rate={int(rate * 1000)}kbit,delay={int(delay * 1000)}us,buffer={buffer}"
        there += "," + case["link"] if case["link"] else ""
        command = [self.longhaul, "link", "--a", f"dev=lha,addr=10.9.2.1/24,ns={NAMES['near']}"]
        command += ["--b", f"dev=lhb,addr=10.9.2.2/24,ns={NAMES['far']}", "--ab", there]
        command += ["--ba", f"delay={int(delay * 1000)}us", "--control", self.control_socket]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline()
        if not ready.startswith("READY"):
            raise RuntimeError("longhaul link: " + ready + self.process.stderr.read())
        run(*inside("near", "ip", "route", "add", "10.9.3.0/24", "via", "10.9.2.2"))
        run(*inside("far", "ip", "route", "add", "10.9.1.0/24", "via", "10.9.2.1"))

    def lose(self, per_cent):
        run(self.longhaul, "link", "set", "--ab", f"loss={per_cent}%", "--control", self.control_socket)

    def lateness(self):
        """By how much packets left late, ms: 99 of 100 by less."""
        stats = run(self.longhaul, "link", "stats", "--control", self.control_socket)
        found = re.findall(r'"p99_ns":\s*(\d+)', stats)
        return round(max(map(int, found)) / 1e6, 2)

    def close(self):
        process = getattr(self, "process", None)
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.wait(20)
        self.remove()

    @staticmethod
    def remove():
        for name in NAMES.values():
            subprocess.run(("ip", "netns", "del", name), capture_output=True)


# ---------------------------------------------------------------- the applications, inside their namespaces


def connected(case, is_sender):
    """The connection of one end: whoever sends may be the one who connects or the one who accepts."""
    host, port = (SENDER if is_sender == (not case["sender_connects"]) else None), 5201
    connects = is_sender == case["sender_connects"]
    peer = RECEIVER if is_sender else SENDER
    buffer = case.get("socket_buffer")

    def sized(sock):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, case["control"].encode())
        if buffer and not is_sender and case["kind"] != "send-buffer":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        return sock

    if not connects:
        listener = sized(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", port))
        listener.listen(1)
        print("LISTENING", flush=True)
        return sized(listener.accept()[0])
    sock = sized(socket.socket())
    sock.connect((peer, port))
    return sock


def probe(found):
    """Measures the path beside the transfer: a datagram each 50 ms, and when it comes back."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((RECEIVER, 5203))
    sock.settimeout(2)
    while True:
        sent = time.monotonic()
        try:
            sock.send(b"?")
            sock.recv(1)
            found.append(1e3 * (time.monotonic() - sent))
        except OSError:
            pass
        time.sleep(0.05)


def echo_probes():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("0.0.0.0", 5203))
    while True:
        data, peer = sock.recvfrom(16)
        sock.sendto(data, peer)


def send(case):
    sock = connected(case, True)
    probes = []
    if case["kind"] in PROBED:
        threading.Thread(target=probe, args=(probes,), daemon=True).start()
    if case["kind"] == "echo":
        sock.sendall(b"hello")
        sock.recv(5)
    elif "chunk" in case:
        due = time.monotonic()
        for _ in range(case["count"]):
            sock.sendall(bytes(case["chunk"]))
            due += case["pause"]
            time.sleep(max(0, due - time.monotonic()) if case["kind"] == "paced" else case["pause"])
    else:
        stream(sock, case)
    sock.shutdown(socket.SHUT_WR)
    while sock.recv(65536):
        pass
    if probes:
        probes.sort()
        print("PROBES", round(probes[0], 1), round(probes[len(probes) // 2], 1), flush=True)


def room_now(sock, room):
    """Waits until a third of the buffer is free, as a kernel does before it wakes a writer, and fills it with whole segments."""
    while True:
        free = room - struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]
        if free >= max(room // 3, SEGMENT):
            return free // SEGMENT * SEGMENT
        time.sleep(0.0002)


def stream(sock, case):
    """Sends in pieces, and with a small send buffer only while less than that waits to be acknowledged."""
    room = case["socket_buffer"] if case["kind"] == "send-buffer" else 1 << 40
    left = case["bytes"]
    while left > 0:
        piece = min(left, room_now(sock, room) if room < 1 << 40 else 1 << 16)
        sock.sendall(bytes(piece))
        left -= piece


def receive(case):
    if case["kind"] in PROBED:
        threading.Thread(target=echo_probes, daemon=True).start()
    sock = connected(case, False)
    if case["kind"] == "echo":
        sock.sendall(sock.recv(5))
    total = 0
    while data := sock.recv(case.get("reads", 1 << 20)):
        total += len(data)
        if "reads" in case:
            time.sleep(case["read_pause"])
    sock.shutdown(socket.SHUT_WR)
    print("RECEIVED", total, flush=True)


def fail_to_connect(to):
    sock = socket.socket()
    sock.settimeout(8)
    try:
        sock.connect((to, 5202))
    except OSError:
        pass


# ---------------------------------------------------------------- one capture


def this_script(name, role, case):
    return subprocess.Popen(inside(name, sys.executable, os.path.abspath(__file__), "--role", role, "--case", json.dumps(case)),
                            stdout=subprocess.PIPE, text=True)


def capture(world, case, path):
    """Runs the applications under tcpdump."""
    seen = "tcp" if case["kind"] != "one-way" else f"tcp and src host {SENDER}"
    at = inside(case["at"], "tcpdump", "--immediate-mode", "-i", "eth0", "-s", str(SNAPLEN), "-B", "16384", "-U", "-w", path, seen)
    dump = subprocess.Popen(at, stderr=subprocess.PIPE, text=True)
    while "listening on" not in dump.stderr.readline():
        pass
    try:
        applications(world, case)
        time.sleep(0.3)
    finally:
        dump.send_signal(signal.SIGINT)
        said = dump.stderr.read()
        dump.wait()
    case["dropped_by_kernel"] = int(next(line.split()[0] for line in said.splitlines() if "dropped by kernel" in line))


def applications(world, case):
    if case["kind"] in ("refused", "unanswered"):
        to = RECEIVER if case["kind"] == "refused" else NOWHERE
        this_script("sender", "connect:" + to, case).wait()
        return
    connects, accepts = ("send", "receive") if case["sender_connects"] else ("receive", "send")
    where = {"send": "sender", "receive": "receiver"}
    server = this_script(where[accepts], accepts, case)
    assert server.stdout.readline().startswith("LISTENING")
    client = this_script(where[connects], connects, case)
    if "outage" in case:
        time.sleep(0.8)
        world.lose(100)
        time.sleep(case["outage"])
        world.lose(0)
    said = client.communicate(timeout=120)[0] + server.communicate(timeout=120)[0]
    for line in said.splitlines():
        if line.startswith("PROBES"):
            case["probed_rtt_ms"] = dict(zip(("min", "median"), map(float, line.split()[1:])))


def packets(data):
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at : at + 16], bytearray(data[at + 16 : at + 16 + length])
        at += 16 + length


def trimmed(path, case, rng):
    """Packets with checksums zeroed, without hardware addresses, and without those that a lossy capture missed."""
    data = open(path, "rb").read()
    out = [data[:24]]
    count = 0
    for head, packet in packets(data):
        if rng.random() < case.get("capture_loss", 0):
            continue
        header = 14 + (packet[14] & 15) * 4
        packet[0:12] = bytes(12)
        packet[24:26] = bytes(2)
        packet[header + 16 : header + 18] = bytes(2)
        end = header + (packet[header + 12] >> 4) * 4
        kept = packet[:end]
        out += [head[:8] + struct.pack("<I", len(kept)) + head[12:], bytes(kept)]
        count += 1
    case["packets"] = count
    return b"".join(out)


def one(arguments, case, raw):
    """Makes one capture, anew when the machine held the path's packets up: then the path was another one."""
    for attempt in range(1, ATTEMPTS + 1):
        case["attempts"] = attempt
        world = World(arguments.longhaul, case, os.path.join(arguments.out, "control.sock"))
        try:
            capture(world, case, raw)
            case["late_p99_ms"] = world.lateness()
        finally:
            world.close()
        if case["late_p99_ms"] <= LATE_MS:
            return
        print(f"  {case['file']}: packets left up to {case['late_p99_ms']} ms late, once more", flush=True)


def make(arguments):
    rng = random.Random(arguments.seed)
    # Two quarters at random: at either end, with offload and without, in equal numbers.
    kinds = list(SET)
    places = [index % 4 for index in range(len(kinds))]
    rng.shuffle(places)
    truth = {"seed": arguments.seed, "captures": []}
    print(f"seed {arguments.seed}", flush=True)
    for index, (kind, place) in enumerate(zip(kinds, places), 1):
        at_receiver = bool(place & 1) and kind not in ("unanswered",)
        case = draw(random.Random(f"{arguments.seed}/{index}"), kind, at_receiver, bool(place & 2))
        case["file"] = f"{index:02}-{kind}.pcap.gz"
        if arguments.only and kind not in arguments.only:
            continue
        raw = os.path.join(arguments.out, "raw.pcap")
        one(arguments, case, raw)
        bytes = trimmed(raw, case, random.Random(f"{arguments.seed}/{index}/capture"))
        with open(os.path.join(arguments.out, case["file"]), "wb") as file:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=9, mtime=0) as packed:
                packed.write(bytes)
        os.remove(raw)
        truth["captures"].append(case)
        size = os.path.getsize(os.path.join(arguments.out, case["file"]))
        print(f"{case['file']:28} {case['packets']:6} packets {size:8} bytes", flush=True)
    with open(os.path.join(arguments.out, "truth.json"), "w") as file:
        json.dump(truth, file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longhaul", help="the program, for `longhaul link`")
    parser.add_argument("--seed", type=int, help="where paths, applications and places are drawn from")
    parser.add_argument("--out", help="directory for captures and truth.json")
    parser.add_argument("--only", action="append", help="only situations of this kind; may be repeated")
    parser.add_argument("--role", help=argparse.SUPPRESS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role:
        case = json.loads(arguments.case)
        roles = {"send": send, "receive": receive}
        act = roles.get(arguments.role) or (lambda _: fail_to_connect(arguments.role.split(":")[1]))
        return act(case)
    if not (arguments.longhaul and arguments.seed is not None and arguments.out):
        parser.error("--longhaul, --seed and --out are needed")
    os.makedirs(arguments.out, exist_ok=True)
    make(arguments)


if __name__ == "__main__":
    main()
