#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The libraries of userlib/doca between two functions: all programs of tests/doca.
. ./lib.sh

for source in ../../doca/*.c; do
	program=${source##*/}
	tap ../../../build/user/tests/doca/"${program%.c}"
done

finish
