#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs a chain of writes and a sum over 8 ranks with xv_perf, several times in turns in one
VM.  Each run measures the requests posted once, and the same requests driven by the CPU.
Prints lines: bench NAME VALUE UNIT
"""
import sys

import perf

TURNS = 5
# name, arguments of xv_perf
TESTS = [
    ("chain", "-n 10000 chain"),
    ("allreduce_8x8", "-n 1000 -r 8 -s 8 allreduce"),
    ("allreduce_8x8_asleep", "-n 1000 -r 8 -s 8 -E allreduce"),
]
# name, what the adapter's way has, what the CPU's way has
MEASURES = [
    ("time", "adapter_us", "cpu_us"),
    ("cpu_time", "adapter_cpu_time_us", "cpu_cpu_time_us"),
]


def report(name, runs):
    """The best of each way counts, because disturbances only make a run slower."""
    for what, adapter, cpu in MEASURES:
        best = {"adapter": min(r[adapter] for r in runs), "cpu": min(r[cpu] for r in runs)}
        for way, value in best.items():
            print(f"bench {way}.{name}.{what} {value:.3f} us")
        print(f"bench adapter/cpu.{name}.{what} {best['adapter'] / best['cpu']:.3f} ratio",
              flush=True)


def main():
    seen = {name: [] for name, _ in TESTS}
    for _ in range(TURNS):
        for name, args in TESTS:
            seen[name].append(perf.xv_perf_result(args))
    failed = any(None in runs for runs in seen.values())
    for name, runs in seen.items():
        runs = [r for r in runs if r]
        if runs:
            report(name, runs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
