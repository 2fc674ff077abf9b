#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs xv_perf and perftest in turns in one VM, on the software adapter and on rdma_rxe.
Prints lines: bench NAME VALUE UNIT
"""
import json
import subprocess
import sys
import time

import rxe

XV_PERF = "build/user/bin/xv_perf"
# name, what perftest measures, what xv_perf measures with both ends in one process
TESTS = [
    ("write_lat_8", ("ib_write_lat -s 8 -n 2000", 4, "us"), "-n 5000 -s 8 lat write"),
    ("send_lat_8", ("ib_send_lat -s 8 -n 2000", 4, "us"), "-n 5000 -s 8 lat send"),
    ("write_rate_64", ("ib_write_bw -s 64 -n 10000", -1, "Mmsg/s"),
     "-n 50000 -s 64 -b 32 bw write"),
    ("send_rate_64", ("ib_send_bw -s 64 -n 10000", -1, "Mmsg/s"),
     "-n 50000 -s 64 -b 32 bw send"),
]


def xv_perf_result(args):
    """The first result of a run, or None."""
    out = subprocess.run([XV_PERF, "--device", "mlx5_0", "--peer-device", "mlx5_1", "--json",
                          *args.split()], capture_output=True, text=True, check=False, timeout=600)
    if out.returncode:
        print(out.stderr, file=sys.stderr)
        return None
    return json.loads(out.stdout)["results"][0]


def xv_perf(args):
    result = xv_perf_result(args)
    return result and (result.get("median_us") or result.get("mops_per_s"))


def many(operations):
    """As the rate of writes, but that many; xv_perf seals the thread that posts them."""
    rate = xv_perf(f"-n {operations} -s 64 -b 32 bw write")
    if rate:
        print(f"bench xv_perf.sealed_write_rate_64 {rate} Mmsg/s")
        print(f"bench xv_perf.sealed_writes_without_system_call {operations} operations",
              flush=True)
    return rate


def main():
    rxe.make_rxe()
    time.sleep(1)
    failed = False
    for name, (program, column, unit), args in TESTS:
        seen = {"rxe": [], "perftest": [], "xv_perf": []}
        for _ in range(rxe.TURNS):
            seen["rxe"].append(rxe.run(program, rxe.RXE, rxe.RXE, column))
            seen["perftest"].append(rxe.run(program, *rxe.XHCA, column))
            seen["xv_perf"].append(xv_perf(args))
        best = {}
        for who, values in seen.items():
            values = [v for v in values if v is not None]
            if values:
                best[who] = min(values) if unit == "us" else max(values)
                print(f"bench {who}.{name} {best[who]} {unit}", flush=True)
        if len(best) < 3:
            failed = True
            continue
        for other in ("perftest", "rxe"):
            gain = best["xv_perf"] / best[other]
            print(f"bench xv_perf/{other}.{name}_gain {1 / gain if unit == 'us' else gain:.3f}"
                  " ratio", flush=True)
    return 1 if failed or not many(10_000_000) else 0


if __name__ == "__main__":
    sys.exit(main())
