# SPDX-License-Identifier: GPL-2.0
"""What the kernel says meanwhile: after a command that did not end, or a warning, nothing more is
asked."""

import os
import re

BAD = re.compile(r"WARNING:|BUG:|Oops|general protection|Call Trace|KASAN|UBSAN|"
                 r"blocked for more than|mlx5_core .*(timeout|health|fatal|leak of a command)|"
                 r"PCIe Bus Error", re.I)


class KernelLog:
    """Lines of the kernel log since the last look; of none if this user may not read it."""

    def __init__(self, path="/dev/kmsg"):
        self.lines = []
        try:
            self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self.fd, 0, os.SEEK_END)
        except OSError as e:
            self.fd, self.why_not = None, f"{path}: {e.strerror}"

    def look(self):
        """Returns the new lines that are bad."""
        new = []
        while self.fd is not None:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # lines were overwritten
            except OSError:
                break
            new.append(record.partition(";")[2].splitlines()[0])
        self.lines += new
        return [line for line in new if BAD.search(line)]
