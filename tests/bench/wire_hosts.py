#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""xhca against rdma_rxe between two VMs: the same perftest programs, in turns.

The VMs are connected by Ethernet (option --hosts 2 of tests/vm/run). On each, rdma_rxe is on the
interface, and the interface is the uplink of a function of xhca. The MTU is 4500, so the path MTU
is 4096. The second host only runs the commands that the first one sends.

Prints lines: bench NAME VALUE UNIT. First the bounds: a sum of 4 KiB on one CPU, TCP and UDP
between the hosts (iperf3). A ratio is that of the medians of wire.TURNS turns. Around runs in which
both programs sleep while they wait, it prints the lines "cpu" of tests/bench/run.
"""
import os
import pathlib
import subprocess
import sys

import wire

TOP = pathlib.Path(__file__).resolve().parents[2]
SUITES = TOP / "tests/vm/suites"
THERE = [str(SUITES / "there")]
HOSTS = ("10.76.0.1", "10.76.0.2")  # of the Ethernet interfaces
RXE = HOSTS
XHCA = ("10.1.1.1", "10.1.1.2")

# Both sides move the same number of bytes.
EVENTS_BYTES, EVENTS_MESSAGES = 65536, 300
EVENTS = f"ib_send_bw -e -s {EVENTS_BYTES} -n {EVENTS_MESSAGES}"

SETUP = """set -e
cd {top}
sysctl net.ipv4.conf.eth0.arp_ignore=1
ip link set eth0 mtu 4500
modprobe rdma_rxe
rdma link add rxe0 type rxe netdev eth0
userlib/tools/xhcactl add --uplink eth0 wired
interface=$(cat /sys/kernel/config/xhca/wired/interface)
ip link set $interface mtu 4500 up
ip addr add {address}/24 dev $interface
"""

GID_INDEX = """import sys
sys.path.insert(0, sys.argv[1])
import wire
print(wire.gid_index(*sys.argv[2:]))
"""


def run(words, script):
    subprocess.run([*words, "bash", "-c", script], check=True, stdout=subprocess.DEVNULL)


def device_of(words):
    """The RDMA device of the function"""
    script = "ls /sys/bus/pci/devices/$(cat /sys/kernel/config/xhca/wired/address)/infiniband"
    return subprocess.run([*words, "bash", "-c", script], check=True, capture_output=True,
                          text=True).stdout.strip()


def end_of(words, device, address):
    gid = subprocess.run([*words, "python3", "-c", GID_INDEX, TOP / "tests/bench", device, address],
                         check=True, capture_output=True, text=True).stdout.strip()
    return wire.End(device, gid, words)


def events(side, ends):
    """A turn whose CPU time tests/bench/run measures"""
    print("cpu begin", flush=True)
    if wire.turn(EVENTS, -2, *ends):
        print(f"cpu wire_hosts.{side}.cpu_per_byte {EVENTS_BYTES * EVENTS_MESSAGES}", flush=True)
        return True
    print(f"{side} has no result with events", flush=True)
    return False


def main():
    if os.environ["HOST"] != "0":
        os.execv(SUITES / "serve", ["serve"])
    for words, address in (([], XHCA[0]), (THERE, XHCA[1])):
        run(words, SETUP.format(top=TOP, address=address))
    wire.bounds("wire_hosts", [], THERE, HOSTS[0])
    sides = {}
    for side, addresses in (("rxe", RXE), ("xhca", XHCA)):
        ends = []
        for words, address in zip(([], THERE), addresses):
            device = "rxe0" if side == "rxe" else device_of(words)
            ends.append(end_of(words, device, address))
        sides[side] = (*ends, HOSTS[0])
    results = [wire.compare("wire_hosts", name, *rest, sides) for name, *rest in wire.PROGRAMS]
    results += [events(side, ends) for _ in range(wire.TURNS) for side, ends in sides.items()]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
