#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# DEVX of the unmodified driver and library: objects that a process creates by firmware commands.
. ./lib.sh

before=$(objects)
tap ../../../build/stock/devx "$DEV0" "$(gid_index "$DEV0")" exit
nothing_left "processes that exit" "$before"
tap ../../../build/stock/devx "$DEV0" "$(gid_index "$DEV0")"
nothing_left "objects that are destroyed" "$before"
tap ../../../build/stock/umr "$DEV0" "$(gid_index "$DEV0")"
finish
