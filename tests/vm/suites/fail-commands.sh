#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every verb with each of its firmware commands failing in turn: the error, what
# is left in the adapter, and the same for the closing of a file. Not on the debug
# kernel: an empty stock of keys has lockdep report a lock order of mlx5_ib.
. ./lib.sh

drop_key_cache
tap ../../../build/user/tests/inject command --device "$DEV0"
finish
