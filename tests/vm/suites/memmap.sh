#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Without reserved memory for BARs, xhca is not loaded and prints one line that says why.
. ./lib.sh

dmesg -C
refused "xhca is refused" 'No such device or address' load xhca
like "a line of the kernel log says what to do" \
	'xhca: no memory for the BARs: boot with memmap=16M' dmesg
is "there is no other line" "$(dmesg | grep xhca: | grep -cv taint)" 1
is "no PCI bus is left" "$(find /sys/bus/pci/devices -name '10000:*' | wc -l)" 0
finish
