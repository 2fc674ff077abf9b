#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Programs of libibverbs with and without xv_run, in turns in one VM: instructions of a post
and of a poll, and the latency of perftest.  Prints lines: bench NAME VALUE UNIT
"""
import subprocess
import sys

import rxe

XV_RUN = "build/user/bin/xv_run"
INSTRUCTIONS = ["build/user/bench/instructions", "mlx5_0", "mlx5_1"]
# Each row: name, operation of perftest, column of its output with the typical latency
LATENCY = [
    ("write_lat_8", "ib_write_lat -s 8 -n 2000", 4),
    ("send_lat_8", "ib_send_lat -s 8 -n 2000", 4),
]
TURNS = 8


def instructions(prefix):
    """Instructions of a post and a poll together, by interface and batch"""
    out = subprocess.run([*prefix, *INSTRUCTIONS], capture_output=True, text=True, check=True,
                         timeout=600).stdout
    total = {}
    for line in out.splitlines():
        _, name, value, unit = line.split()
        if unit == "instructions/op" and name.startswith("ibv_"):
            way, _, batch, _ = name.split(".")
            total[way, batch] = total.get((way, batch), 0) + float(value)
    return total


def main():
    stock, ours = instructions([]), instructions([XV_RUN])
    for (way, batch), count in ours.items():
        print(f"bench xv_run.{way}.{batch} {count:.1f} instructions/op")
        print(f"bench xv_run/libmlx5.{way}.{batch}.instructions "
              f"{count / stock[way, batch]:.3f} ratio", flush=True)
    failed = False
    for name, program, column in LATENCY:
        seen = {"libmlx5": [], "xv_run": []}
        for _ in range(TURNS):
            seen["libmlx5"].append(rxe.run(program, *rxe.XHCA, column))
            seen["xv_run"].append(rxe.run(f"{XV_RUN} {program}", *rxe.XHCA, column))
        best = {way: min((v for v in values if v is not None), default=None)
                for way, values in seen.items()}
        if None in best.values():
            failed = True
            continue
        print(f"bench xv_run.{name} {best['xv_run']} us")
        print(f"bench xv_run/libmlx5.{name} {best['xv_run'] / best['libmlx5']:.3f} ratio",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
