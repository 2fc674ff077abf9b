# SPDX-License-Identifier: GPL-2.0
"""The command line of xv_hwtest, and the order of its work."""

import argparse
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from . import ends, model, privacy, report, runner, steps, wire
from .kernel_log import KernelLog

HERE = Path(__file__).resolve().parent.parent
AGREES, DIFFERS, USAGE, STOPPED = range(4)

HARM = """xv_hwtest creates queues, memory regions and connections of its own, and removes them.
It changes no setting of the host, the adapter or the network{loss}. Each command has a time limit.
It stops at the first command of the driver that does not end, and at the first warning of the
kernel."""


def directories():
    """Where the programs are: below build/ in a tree, or beside this script when installed."""
    tree = HERE.parent.parent / "build/user"
    base = tree if (HERE / "Makefile").exists() else HERE
    names = {name: base / name for name in ("tests", "hw", "bench", "bin")}
    names["lib"] = HERE
    names["stock"] = tree.parent / "stock" if base == tree else HERE / "stock"
    return names


def version():
    for path in (HERE / "version", HERE.parent.parent / "dkms.conf"):
        if path.exists():
            return path.read_text().partition('PACKAGE_VERSION="')[2].partition('"')[0]
    return "unknown"


def options():
    parser = argparse.ArgumentParser(
        prog="xv_hwtest", description="Compares an adapter with what its model expects.")
    parser.add_argument("device", help="RDMA device of this host")
    parser.add_argument("peer", nargs="?", help="the other end: a device of this host (default: "
                        "the same device), or HOST[:DEVICE] for ssh")
    parser.add_argument("--probe", action="store_true",
                        help="also ask what no public document says")
    parser.add_argument("--dry-run", action="store_true", help="print what would be done")
    parser.add_argument("--steps", default="", metavar="NAME,...", help="only these steps")
    parser.add_argument("--model", metavar="FILE", help="another model of the adapter")
    parser.add_argument("--output", metavar="FILE", help="file of the result (default: "
                        "hwtest-DATE.txt)")
    parser.add_argument("--ssh", action="append", default=[], metavar="OPTION",
                        help="an option of ssh, such as -p2222")
    parser.add_argument("--remote-path", metavar="DIRECTORY",
                        help="where the programs are on the other host, if not in its PATH")
    parser.add_argument("--version", action="version", version=f"xv_hwtest {version()}")
    return parser.parse_args()


def can_run(here, there, where, args, log):
    """Ends with the reason why the tests cannot run."""
    for end in (here, there):
        if end.gid() is None:
            raise SystemExit(f"xv_hwtest: {end.device} has no RoCE v2 GID: is its network "
                             "interface up, and does it have an address?")
    if where != "wire" and here.ask("test -e /dev/xverbs")[0]:
        raise SystemExit("xv_hwtest: xverbs.ko is not loaded: modprobe xverbs")
    if args.probe and log.fd is None:
        raise SystemExit(f"xv_hwtest: --probe must see warnings of the kernel: {log.why_not}")


def print_plan(chosen, run, where):
    lossy = any("lossy" in s.flags for s in chosen)
    print(HARM.format(loss=", except that the software adapter of the other host loses frames for "
                      "a while" if lossy else ""))
    print(f"\nThe other end: {where}. Steps:")
    for s in chosen:
        print(f"\n{s.name}: {s.kind}, at most {s.seconds} s")
        for host, line in run.lines(s):
            print(f"    {host}: {line}")


def progress(name, good, seconds):
    print(f"{'as expected' if good else 'DIFFERS':12} {name} ({seconds:.0f} s)", flush=True)


def run_step(step, run, there):
    if "lossy" not in step.flags:
        return run.run(step)
    with wire.loss(there) as why_not:
        if why_not is None:
            return run.run(step)
    return runner.Result([(step.name, f"skip: no loss: {why_not}")])


def run_all(chosen, run, there, log, result):
    """Runs the steps in their order.  Returns why it stopped before the end, or None."""
    for step in chosen:
        if sys.stdout.isatty():
            print(f"{'runs':12} {step.name}", end="\r", flush=True)
        start = time.monotonic()
        answer = run_step(step, run, there)
        progress(step.name, result.add(step, answer), time.monotonic() - start)
        if bad := log.look():
            return f"after {step.name} the kernel log has: {bad[0]}"
        if answer.timed_out and "probe" in step.flags:
            return f"{step.name} did not end in time"
    return None


def write(path, text, ends_used):
    """Writes the result with nothing in it that identifies a host."""
    Path(path).write_text(privacy.Privacy(ends_used).clean(text))


def finish(result, stopped, path):
    if result.differences:
        print("\n" + result.table(result.differences))
    skipped = sum(row.mark == "s" for row in result.rows)
    print(f"\n{len(result.rows)} answers, {skipped} skipped, in {path}")
    if stopped:
        print(f"xv_hwtest: stopped: {stopped}")
        return STOPPED
    count = len(result.differences)
    print("xv_hwtest: no difference" if not count else
          f"xv_hwtest: {count} difference{'s' if count > 1 else ''}")
    return DIFFERS if count else AGREES


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    args = options()
    where_programs = directories()
    # In a tree, xhcactl is a script among the sources.
    path = [str(where_programs["bin"]), str(HERE.parent.parent / "userlib/tools")]
    here = ends.local(path, args.device)
    there, where = ends.peer(here, args.peer, [args.remote_path] if args.remote_path else [],
                             args.ssh)
    log = KernelLog()
    can_run(here, there, where, args, log)
    chosen = steps.choose(steps.read(), where, here.link, args.probe,
                          list(filter(None, args.steps.split(","))))
    run = runner.Runner(here, there, where_programs)
    if args.dry_run:
        print_plan(chosen, run, where)
        return AGREES

    notes = [f"the other end: {where}"]
    file, note = (args.model, None) if args.model else model.find(part_id(here))
    notes += [note] if note else []
    notes += [f"the kernel log was not read: {log.why_not}"] if log.fd is None else []
    result = report.Report(model.read(file, here.link))
    output = args.output or time.strftime("hwtest-%Y%m%d-%H%M.txt")
    directory = f"/tmp/xv_hwtest.{os.getpid()}"
    stopped = "interrupted"
    try:
        with contextlib.ExitStack() as stack:
            if where == "wire":
                stack.enter_context(wire.captures({"this end": here, "the other end": there},
                                                  directory, notes))
            stopped = run_all(chosen, run, there, log, result)
    except KeyboardInterrupt:
        pass
    finally:
        run.stop()
        text = result.text(report.host_facts(here, version()),
                           notes + ([f"stopped: {stopped}"] if stopped else []), log.lines)
        write(output, text, (here, there))
    return finish(result, stopped, output)


def part_id(here):
    """MT4119 -> 4119"""
    return here.fact("hca_type").removeprefix("MT")
