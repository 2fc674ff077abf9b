#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs a chain of writes and sums over 8 ranks with xv_perf, several times in turns in one
VM.  Each run measures the requests posted once, and the same requests driven by the CPU.
Of what is posted once, the adapter exchanges the messages.  It also calculates all sums of
allreduce_..._adapter_sums; the last sum of allreduce_..._cpu_ends is calculated by the CPU.
Prints lines: bench NAME VALUE UNIT
"""
import sys

import perf

TURNS = 5
# name, arguments of xv_perf, who calculates the last sum of what is posted once
TESTS = [
    ("chain", "-n 10000 chain", None),
    ("allreduce_8x8_cpu_ends", "-n 1000 -r 8 -s 8 allreduce", "CPU"),
    ("allreduce_8x8_cpu_ends_asleep", "-n 1000 -r 8 -s 8 -E allreduce", "CPU"),
    ("allreduce_8x8_adapter_sums", "-n 1000 -r 8 -s 8 -y float64 allreduce", "adapter"),
    ("allreduce_8x8_adapter_sums_asleep", "-n 1000 -r 8 -s 8 -y float64 -E allreduce",
     "adapter"),
    ("allreduce_8x4096_adapter_sums", "-n 300 -r 8 -s 4096 allreduce", "adapter"),
]
# name, key of the requests posted once, key of those driven by the CPU
MEASURES = [
    ("time", "at_once_us", "in_steps_us"),
    ("cpu_time", "at_once_cpu_time_us", "in_steps_cpu_time_us"),
]


def report(name, runs):
    """The best of each way counts, because disturbances only make a run slower."""
    for what, once, driven in MEASURES:
        best = {"posted_once": min(r[once] for r in runs),
                "cpu_driven": min(r[driven] for r in runs)}
        for way, value in best.items():
            print(f"bench {way}.{name}.{what} {value:.3f} us")
        ratio = best["posted_once"] / best["cpu_driven"]
        print(f"bench posted_once/cpu_driven.{name}.{what} {ratio:.3f} ratio", flush=True)


def main():
    seen = {name: [] for name, *_ in TESTS}
    failed = False
    for _ in range(TURNS):
        for name, args, who in TESTS:
            result = perf.xv_perf_result(args)
            if not result or result.get("last_sum_by") != who:
                print(f"{name}: no result, or the last sum is not by the {who}", file=sys.stderr)
                failed = True
                continue
            seen[name].append(result)
    for name, runs in seen.items():
        if runs:
            report(name, runs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
