#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Where no memory is kept for BARs, xhca says so in one line and is not loaded.
. ./lib.sh

dmesg -C
refused "xhca is refused" 'No such device or address' load xhca
like "... with a line that says what to do" 'xhca: no memory for the BARs: boot with memmap=16M' dmesg
is "... and no other" "$(dmesg | grep xhca: | grep -cv taint)" 1
is "no bus is left" "$(find /sys/bus/pci/devices -name '10000:*' | wc -l)" 0
finish
