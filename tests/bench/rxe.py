#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""xhca against rdma_rxe, in a VM: the same perftest program on both, in turns.

Prints lines: bench NAME VALUE UNIT.  Of each program the best of several turns
counts, because disturbances only make a run slower.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

TURNS = 3
PORT = 18515
# program with arguments, columns of its result: name, number, unit
LATENCY = [(".typical", 4, "us"), (".p99", 7, "us")]
PROGRAMS = [
    ("write_bw_64k", "ib_write_bw -s 65536 -n 1000", [("", -2, "MB/s")]),
    ("write_rate_64", "ib_write_bw -s 64 -n 5000", [("", -1, "Mmsg/s")]),
    ("send_bw_64k", "ib_send_bw -s 65536 -n 1000", [("", -2, "MB/s")]),
    ("read_bw_64k", "ib_read_bw -s 65536 -n 1000", [("", -2, "MB/s")]),
    ("write_lat_8", "ib_write_lat -s 8 -n 2000", LATENCY),
    ("send_lat_8", "ib_send_lat -s 8 -n 2000", LATENCY),
    ("send_lat_8_events", "ib_send_lat -e -s 8 -n 2000", LATENCY),
]
ONE_THREAD = [(".typical", 0, "us"), (".p99", 1, "us")]
IDLE_SECONDS = 10
RXE = ["-d", "rxe0", "-x", "1"]
XHCA = (["-d", "mlx5_0", "-x", "3"], ["-d", "mlx5_1", "-x", "3"])


def sh(command):
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)


def make_rxe():
    sh("modprobe dummy numdummies=0; modprobe rdma_rxe")
    sh("ip link add rxenet type dummy && ip addr add 10.78.0.1/24 dev rxenet"
       " && ip link set rxenet up && rdma link add rxe0 type rxe netdev rxenet")


def listening():
    with open("/proc/net/tcp") as a, open("/proc/net/tcp6") as b:
        return re.search(r":%04X [0-9A-F]+:0000 0A" % PORT, a.read() + b.read())


def perftest(program, server_args, client_args):
    """One turn; the columns of the result line, or none."""
    server = subprocess.Popen(program.split() + server_args, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while not listening() and time.monotonic() < end:
        time.sleep(0.05)
    try:
        out = subprocess.run(program.split() + client_args + ["127.0.0.1"], text=True,
                             capture_output=True, timeout=60).stdout
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return []
    finally:
        server.kill()
        server.wait()
    rows = re.findall(r"^ *\d+ +\d+ +.*$", out, re.M)
    return [float(c) for c in rows[-1].split()] if rows else []


def run(program, server_args, client_args, column):
    """One turn; the number in one column, or None."""
    row = perftest(program, server_args, client_args)
    return row[column] if row else None


def one_thread(*devices):
    out = subprocess.run(["build/user/bench/one_thread", *devices], text=True, check=False,
                         capture_output=True, timeout=60).stdout
    return [float(c) for c in out.split()]


def compare(name, columns, rxe, xhca):
    """Both in turns; false if one has no result."""
    rows = {"rxe": [], "xhca": []}
    for _ in range(TURNS):
        rows["rxe"].append(rxe())
        rows["xhca"].append(xhca())
    for suffix, column, unit in columns:
        best = {}
        for device, turns in rows.items():
            values = [row[column] for row in turns if row]
            if not values:
                print(f"{name}: no result from {device}", file=sys.stderr)
                return False
            best[device] = min(values) if unit == "us" else max(values)
            print(f"bench {device}.{name}{suffix} {best[device]} {unit}", flush=True)
        print(f"bench xhca/rxe.{name}{suffix} {best['xhca'] / best['rxe']:.3f} ratio", flush=True)
    return True


def cpu_seconds():
    """What the engine's threads have used, and all interrupts."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        name, fields = re.match(r"\d+ \((.*)\) (.*)", stat.read_text()).groups()
        if name.startswith("xhca/"):
            ticks += int(fields.split()[11]) + int(fields.split()[12])
    irq, softirq = pathlib.Path("/proc/stat").read_text().split()[6:8]
    return (ticks + int(irq) + int(softirq)) / os.sysconf("SC_CLK_TCK")


def idle():
    print(f"the adapter is idle for {IDLE_SECONDS} s", flush=True)
    before = cpu_seconds()
    time.sleep(IDLE_SECONDS)
    share = 100 * (cpu_seconds() - before) / IDLE_SECONDS
    print(f"bench xhca.idle_cpu {share:.2f} %", flush=True)


def first_after_pause():
    """The first message after a pause, beside usleep(100) after such a pause; the best of the
    turns."""
    best = {}
    for turn in range(TURNS):
        print(f"first messages after pauses: turn {turn + 1} of {TURNS}", flush=True)
        out = subprocess.run(["build/user/bench/pause", "mlx5_0", "mlx5_1"], text=True,
                             check=False, capture_output=True, timeout=120).stdout
        for name, *medians in map(str.split, out.splitlines()):
            medians = list(map(float, medians))
            best[name] = list(map(min, medians, best.get(name, medians)))
    for name, (write, usleep) in best.items():
        print(f"bench xhca.{name} {write} us")
        print(f"bench host.{name}.usleep_100 {usleep} us")
        print(f"bench xhca.{name}/usleep_100 {write / usleep:.3f} ratio", flush=True)
    if not best:
        print("pause: no result", file=sys.stderr)
    return bool(best)


def main():
    time.sleep(1)
    idle()
    make_rxe()
    time.sleep(1)
    good = first_after_pause()
    for name, program, columns in PROGRAMS:
        good &= compare(name, columns, lambda p=program: perftest(p, RXE, RXE),
                        lambda p=program: perftest(p, *XHCA))
    good &= compare("one_thread_write_8", ONE_THREAD, lambda: one_thread("rxe0"),
                    lambda: one_thread("mlx5_0", "mlx5_1"))
    return not good


if __name__ == "__main__":
    sys.exit(main())
