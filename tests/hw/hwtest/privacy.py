# SPDX-License-Identifier: GPL-2.0
"""Removes from a text what identifies a person, a machine or a network."""

import getpass
import re
import socket

PATTERNS = [
    (re.compile(r"\b([0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b", re.I), "<MAC>"),
    (re.compile(r"(?<![\w:])(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|"
                r"(?=[0-9a-f:]*::)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4})(?:%\w+)?(?![\w:])", re.I),
     "<IPv6>"),
    (re.compile(r"(?<![\w:])[0-9a-f]{4}(:[0-9a-f]{4}){3}(?![\w:])", re.I), "<GUID>"),
    (re.compile(r"(?<![\w.])(\d{1,3}\.){3}\d{1,3}(?![\w.])"), "<IPv4>"),
]
# Names that many hosts and users have say nothing.
COMMON = {"localhost", "root", "debian", "xverbs"}


class Privacy:
    def __init__(self, ends):
        words = {socket.gethostname(), socket.getfqdn(), getpass.getuser()}
        for end in ends:
            if end.host:
                words |= {end.host, end.tcp_address, *re.split(r"[@:]", end.host)}
            for _, what, rest in end.facts:
                if what in ("node_guid", "sys_image_guid"):
                    words |= {rest, rest.replace(":", ""), "0x" + rest.replace(":", "")}
                if what == "netdev":
                    words.add(rest)
        names = {w for word in words for w in (word, word.partition(".")[0])}
        names = sorted((n for n in names if len(n) > 1 and n not in COMMON), key=len, reverse=True)
        self.names = re.compile("|".join(rf"(?<!\w){re.escape(n)}(?!\w)" for n in names) or "$^")

    def clean(self, text):
        for pattern, instead in PATTERNS:
            text = pattern.sub(instead, text)
        return self.names.sub("<name>", text)
