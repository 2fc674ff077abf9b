#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory for the BARs that a boot parameter has reserved: xhca uses it, and takes no other.
. ./lib.sh

ram() { awk '/^MemTotal/ { print $2 }' /proc/meminfo; }

ok "unload what the VM has loaded" unload_all
before=$(ram)
dmesg -C
ok "load xhca" load xhca functions=16
like "it uses the reserved memory" 'xhca: 16 RoCE functions at 0x0*30000000' dmesg
is "the kernel has as much memory as before" "$(ram)" "$before"
ok "unload" rmmod xhca
ok "load it at a chosen address" load xhca functions=2 bar=0x31000000
like "it uses this address" 'xhca: 2 RoCE functions at 0x0*31000000' dmesg
ok "unload again" rmmod xhca
# insmod and modprobe print different texts for EINVAL.  Only an installed module needs modprobe.
refused "an address that is not reserved is refused" 'Invalid (parameters|argument)' \
	load xhca bar=0x40000000
like "the log says why" 'bar=0x0*40000000: 16M from there are not reserved' dmesg
refused "a BAR of 12 MiB is refused" 'Invalid (parameters|argument)' load xhca bar_size=12
is "no PCI bus is left" "$(find /sys/bus/pci/devices -name '10000:*' | wc -l)" 0

# A doorbell page takes 4 KiB of the BAR.
large_bar() {
	modprobe mlx5_ib
	load xhca functions=1 link=ib bar_size=32
}
ok "load with a BAR of 32 MiB" large_bar
like "there is room for 4 functions" 'room for 4$' dmesg
ok "the device is there" wait_for 10 test -e /sys/class/infiniband/mlx5_0
tap ../../../build/stock/many mlx5_0 250 16
finish
