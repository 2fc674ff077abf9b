#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each allocation and each copy of user memory of every verb fails in turn; queues fail late
# and cannot be destroyed then; kmemleak reports leaks. The DMA debugging of the kernel
# disables itself when its own allocations fail, so this suite runs after the others.
. ./lib.sh

TAP_LIMIT=700 tap ../../../build/user/tests/inject memory --device "$DEV0"
TAP_LIMIT=300 tap ../../../build/user/tests/inject kept --device "$DEV0"
finish
