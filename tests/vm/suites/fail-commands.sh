#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each firmware command of every verb fails in turn, and so do the commands that close a
# file: tests the error and the objects that are left in the adapter. Not on the debug
# kernel: without cached keys, lockdep reports a lock order of mlx5_ib.
. ./lib.sh

drop_key_cache
tap ../../../build/user/tests/inject command --device "$DEV0"
finish
