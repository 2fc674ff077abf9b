#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs xv_perf with RC and with DC in turns in one VM: with one target, and with another
target for each message.  Prints lines: bench NAME VALUE UNIT
"""
import sys

import perf

TURNS = 7

WAYS = {
    "rc": "-T rc",
    "dc": "-T dc",
    "dc_100_targets": "-T dc -t 100",
}
# name, unit, what xv_perf measures
TESTS = [
    ("write_lat_8", "us", "-n 20000 -s 8 lat write"),
    ("send_lat_8", "us", "-n 20000 -s 8 lat send"),
    ("read_lat_8", "us", "-n 20000 -s 8 lat read"),
    ("write_rate_64", "Mmsg/s", "-n 200000 -s 64 -b 32 bw write"),
    ("send_rate_64", "Mmsg/s", "-n 200000 -s 64 -b 32 bw send"),
    ("write_rate_64k", "Mmsg/s", "-n 10000 -s 65536 bw write"),
]


def main():
    failed = False
    for name, unit, args in TESTS:
        seen = {way: [] for way in WAYS}
        for _ in range(TURNS):
            for way, options in WAYS.items():
                seen[way].append(perf.xv_perf(f"{options} {args}"))
        best = {}
        for way, values in seen.items():
            values = [v for v in values if v is not None]
            if not values:
                failed = True
                continue
            best[way] = min(values) if unit == "us" else max(values)
            print(f"bench {way}.{name} {best[way]} {unit}", flush=True)
        for way in list(best)[1:]:
            if "rc" in best:
                print(f"bench {way}/rc.{name} {best[way] / best['rc']:.3f} ratio", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
