#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every verb with each of its allocations and copies of user memory failing in
# turn; what leaks is found by kmemleak. The debug code of the kernel's DMA layer
# gives up when its own memory fails, so this comes after the other suites.
. ./lib.sh

TAP_LIMIT=700 tap ../../../build/user/tests/inject memory --device "$DEV0"
finish
