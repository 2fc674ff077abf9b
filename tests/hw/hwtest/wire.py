# SPDX-License-Identifier: GPL-2.0
"""A wire between an adapter and a host with the software adapter: captures at both ends, and frames
that the software adapter loses."""

import contextlib
import signal
import subprocess

LOSS = "1%"


def capture_line(end, path):
    """The command that captures RoCE frames of an end, or None"""
    if end.has("xhcactl") and not end.ask(f"xhcactl list | grep -qw {end.device}")[0]:
        return f"exec xhcactl capture {end.device} {path}"
    if end.has("tcpdump"):
        return f"exec tcpdump -i {end.device} -w {path}"
    return None


@contextlib.contextmanager
def captures(ends, directory, notes):
    """While the context runs, both ends capture; the files stay in @directory of their host."""
    running = []
    for name, end in ends.items():
        path = f"{directory}/{name.replace(' ', '-')}.pcapng"
        line = capture_line(end, path)
        if not line or end.ask(f"mkdir -p {directory}")[0]:
            notes.append(f"no capture of {name}: neither xhcactl nor tcpdump is there")
            continue
        running.append((name, path, subprocess.Popen(
            end.command(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True), end))
    try:
        yield
    finally:
        for name, path, p, end in running:
            # A signal to ssh does not reach the other host.
            if end.host:
                end.ask(f"pkill -INT -f '[ ]{path}'")
            else:
                p.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(15)
            p.kill()
            status, size = end.ask(f"stat -c %s {path}")
            where = end.host or "this host"
            notes.append(f"no capture of {name}: {p.stdout.read().strip()}" if status else
                         f"the capture of {name} is on {where}: {path}, {size} bytes; it has "
                         "addresses, so it is not part of this file")


@contextlib.contextmanager
def loss(end):
    """The function of @end loses frames; yields why not, or None."""
    status, text = end.ask(f"xhcactl impair {end.device} --loss {LOSS}")
    try:
        yield text if status else None
    finally:
        if not status:
            end.ask(f"xhcactl impair {end.device} off")
