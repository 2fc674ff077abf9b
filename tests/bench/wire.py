#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""xhca against rdma_rxe on a wire: the same perftest programs over a veth pair each, in turns.

Two functions of xhca are in two fabrics, which the pair wire0 and wire1 connects (option --wire
of tests/vm/run).  Two devices of rdma_rxe are in two network namespaces, which another pair
connects; older kernels than the newest cannot do that.  Both have an MTU of 4500, so the path MTU
is 4096.  Packets are built, summed and sent by the host's CPUs on both sides.

Prints lines: bench NAME VALUE UNIT.  First the bounds: a sum of 4 KiB on one CPU, TCP and UDP
(iperf3).  A ratio is that of the medians of TURNS turns.
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

TURNS = 5
PORT = 18516
MTU = ["-m", "4096", "-F"]
# name, program with arguments, column of the result, unit
PROGRAMS = [
    ("write_bw_64k", "ib_write_bw -s 65536 -n 300", -2, "MB/s"),
    ("send_bw_64k", "ib_send_bw -s 65536 -n 300", -2, "MB/s"),
    ("read_bw_64k", "ib_read_bw -s 65536 -n 300", -2, "MB/s"),
    ("write_rate_64", "ib_write_bw -s 64 -n 3000", -1, "Mmsg/s"),
    ("write_lat_8", "ib_write_lat -s 8 -n 1000", 4, "us"),
    ("send_lat_8", "ib_send_lat -s 8 -n 1000", 4, "us"),
]
# name, options
IPERF = [("tcp",), ("udp_4k", "-u", "-l", "4096", "-b", "0")]
LOSS = ("write_bw_64k_loss_1", "ib_write_bw -s 65536 -n 300", -2, "MB/s")


class End:
    """Where a program runs, and the device that it uses."""

    def __init__(self, device, gid, words=()):
        self.words = words
        self.device = ["-d", device, "-x", gid]

    def command(self, program, *more):
        return [*self.words, *program.split(), *MTU, *self.device, "-p", str(PORT), *more]

    def listens(self):
        out = subprocess.run([*self.words, "ss", "-Htln"], text=True, check=True,
                             capture_output=True).stdout
        return f":{PORT} " in out


def sh(command):
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)


def gid_index(device, address):
    """Of the RoCEv2 address in the table of the device; it may take a moment."""
    want = "0000:0000:0000:0000:0000:ffff:" + "{:02x}{:02x}:{:02x}{:02x}".format(
        *map(int, address.split(".")))
    port = pathlib.Path(f"/sys/class/infiniband/{device}/ports/1")
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for gid in (port / "gids").iterdir():
            try:
                kind = (port / "gid_attrs/types" / gid.name).read_text()
            except OSError:
                continue
            if gid.read_text().strip() == want and "v2" in kind:
                return gid.name
        time.sleep(0.1)
    sys.exit(f"{device} has no GID for {address}")


def make_rxe():
    sh("modprobe rdma_rxe; ip netns add left; ip netns add right")
    sh("ip link add r0 mtu 4500 netns left type veth peer name r1 mtu 4500 netns right")
    ends = []
    for netns, name, address in (("left", "r0", "10.78.1.1"), ("right", "r1", "10.78.1.2")):
        sh(f"ip -n {netns} link set lo up; ip -n {netns} link set {name} up;"
           f" ip -n {netns} address add {address}/24 dev {name};"
           f" ip netns exec {netns} rdma link add rxe_{name} type rxe netdev {name}")
        ends.append(End(f"rxe_{name}", gid_index(f"rxe_{name}", address),
                        ["ip", "netns", "exec", netns]))
    return (*ends, "10.78.1.1")


def make_xhca():
    return (End("mlx5_0", gid_index("mlx5_0", "10.77.0.1")),
            End("mlx5_1", gid_index("mlx5_1", "10.77.0.2")), "127.0.0.1")


def print_crc(part):
    """A sum of 4 KiB: what xhca has measured when it was loaded"""
    sh("mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug")
    for line in pathlib.Path("/sys/kernel/debug/xhca/crc").read_text().splitlines():
        name, value, *unit = line.split(maxsplit=2)
        if unit:
            print(f"bench {part}.crc_4k_{name} {value} ns", flush=True)


def print_iperf(part, name, options, receiver, sender, address):
    """Bytes per second that the receiver gets"""
    with subprocess.Popen([*receiver, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL) as server:
        time.sleep(2)
        out = subprocess.run([*sender, "iperf3", "-c", address, "-J", "-t", "5", *options],
                             check=True, capture_output=True, text=True).stdout
        server.wait(timeout=30)
    rate = json.loads(out)["end"]["sum_received"]["bits_per_second"] / 8e6
    print(f"bench {part}.{name} {rate:.1f} MB/s", flush=True)


def bounds(part, receiver, sender, address):
    """What bounds both sides; commands of the two ends run after the words of them."""
    print_crc(part)
    for name, *options in IPERF:
        print_iperf(part, name, options, receiver, sender, address)


def turn(program, column, server, client, address):
    """One run; the number in a column of the result, or None."""
    p = subprocess.Popen(server.command(program), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while not server.listens() and time.monotonic() < end:
        time.sleep(0.05)
    try:
        out = subprocess.run(client.command(program, address), text=True, check=False,
                             capture_output=True, timeout=60).stdout
        p.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return None
    finally:
        p.kill()
        p.wait()
    rows = re.findall(r"^ *\d+ +\d+ +.*$", out, re.M)
    return float(rows[-1].split()[column]) if rows else None


def compare(part, name, program, column, unit, sides):
    """All in turns; the medians, or None if one has no result."""
    results = {side: [] for side in sides}
    for _ in range(TURNS):
        for side, ends in sides.items():
            value = turn(program, column, *ends)
            if value:
                results[side].append(value)
    medians = {}
    for side, values in results.items():
        if len(values) < TURNS:
            print(f"{name}: {TURNS - len(values)} turns of {side} have no result", flush=True)
        if not values:
            return None
        medians[side] = statistics.median(values)
        print(f"bench {part}.{side}.{name} {medians[side]} {unit}", flush=True)
    if len(medians) == 2:
        print(f"bench {part}.xhca/rxe.{name} {medians['xhca'] / medians['rxe']:.3f} ratio",
              flush=True)
    return medians


def lossy(sides, without):
    """Both ends of each pair lose 1 % of the frames."""
    links = [("", "wire0"), ("", "wire1"), ("-n left", "r0"), ("-n right", "r1")]
    for netns, link in links:
        sh(f"tc {netns} qdisc add dev {link} root netem loss 1%")
    medians = compare("wire", *LOSS, sides)
    if not medians or not without:
        return False
    for side, value in medians.items():
        print(f"bench wire.{side}.write_bw_64k_loss_1/none {value / without[side]:.3f} ratio",
              flush=True)
    return True


def main():
    sides = {"rxe": make_rxe(), "xhca": make_xhca()}
    bounds("wire", sides["rxe"][0].words, sides["rxe"][1].words, sides["rxe"][2])
    results = {name: compare("wire", name, *rest, sides) for name, *rest in PROGRAMS}
    good = all(results.values()) and lossy(sides, results["write_bw_64k"])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
