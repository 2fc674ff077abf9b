#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""xhca against rdma_rxe, in a VM: the same perftest program on both, in turns.

Prints lines: bench NAME VALUE UNIT.  Of each program the best of several turns
counts, for whatever disturbs a machine makes it slower.
"""
import re
import subprocess
import sys
import time

TURNS = 3
PORT = 18515
# name, program with arguments, column of the result counted from the end, unit
PROGRAMS = [
    ("write_bw_64k", "ib_write_bw -s 65536 -n 1000", -2, "MB/s"),
    ("write_rate_64", "ib_write_bw -s 64 -n 5000", -1, "Mmsg/s"),
    ("send_bw_64k", "ib_send_bw -s 65536 -n 1000", -2, "MB/s"),
    ("read_bw_64k", "ib_read_bw -s 65536 -n 1000", -2, "MB/s"),
    ("write_lat_8", "ib_write_lat -s 8 -n 1000", 4, "us"),
    ("send_lat_8", "ib_send_lat -s 8 -n 1000", 4, "us"),
]
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


def run(program, server_args, client_args, column):
    """One turn; the number in the result line, or None."""
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
        return None
    finally:
        server.kill()
        server.wait()
    rows = re.findall(r"^ *\d+ +\d+ +.*$", out, re.M)
    return float(rows[-1].split()[column]) if rows else None


def main():
    make_rxe()
    time.sleep(1)
    failed = False
    for name, program, column, unit in PROGRAMS:
        seen = {"rxe": [], "xhca": []}
        for _ in range(TURNS):
            seen["rxe"].append(run(program, RXE, RXE, column))
            seen["xhca"].append(run(program, XHCA[0], XHCA[1], column))
        best = {}
        for device, values in seen.items():
            values = [v for v in values if v is not None]
            if values:
                best[device] = min(values) if unit == "us" else max(values)
                print(f"bench {device}.{name} {best[device]} {unit}", flush=True)
        if len(best) == 2:
            print(f"bench xhca/rxe.{name} {best['xhca'] / best['rxe']:.3f} ratio", flush=True)
        else:
            print(f"{name}: no result: {seen}", file=sys.stderr)
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
