#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory for the BARs without a boot parameter: xhca takes a block from the kernel and gives
# it back.
. ./lib.sh
BLOCKS=/sys/devices/system/memory
TIMES=5

ram() { awk '/^MemTotal/ { print $2 }' /proc/meminfo; }
blocks() { grep -l "^${1:-online}" $BLOCKS/memory*/state | wc -l; }
pci() { find /sys/bus/pci/devices -name '10000:*' | wc -l; }
# shellcheck disable=SC2317 # called by ok
again() {
	local i
	for i in $(seq $TIMES); do
		load xhca functions=$((i % 3 + 1)) || return 1
		rmmod xhca || return 1
	done
}

ok "unload what the VM has loaded" unload_all
before=$(ram)
blocks=$(blocks)
size=$((0x$(< $BLOCKS/block_size_bytes) / 1024))
dmesg -C
ok "load xhca" load xhca functions=16
like "the log says what it took" "xhca: took $((size / 1024)) MiB of memory at" dmesg
is "the kernel has one block less" "$(blocks)" $((blocks - 1))
ok "and less memory" [ "$(ram)" -lt "$before" ]
like "the range belongs to xhca" ' : xhca$' cat /proc/iomem
is "all functions are there" "$(pci)" 16
if [ -e /sys/power/disk ]; then
	refused "hibernation is refused" '' sh -c 'echo disk > /sys/power/state'
	like "the log says why" 'xhca: hibernation is not possible' dmesg
else
	skip "hibernation is refused" "the kernel cannot hibernate"
	skip "the log says why" "the kernel cannot hibernate"
fi
ok "unload" rmmod xhca
is "the kernel has its block back" "$(blocks)" "$blocks"
is "no block is offline" "$(blocks offline)" 0
# Not less than before: the kernel had put tables of its own into the block at boot.
before2=$(ram)
ok "the kernel has its memory back" [ "$before2" -ge "$before" ]
ok "load and unload $TIMES times" again
is "the kernel has its memory back again" "$(ram)" "$before2"

# Memory is short, and its pages must move.
head -c 256M /dev/urandom > /dev/shm/fill
sum=$(sha256sum < /dev/shm/fill)
ok "load while memory is in use" load xhca
is "what was in memory has not changed" "$(sha256sum < /dev/shm/fill)" "$sum"
ok "unload it" rmmod xhca
rm /dev/shm/fill

dmesg -C
refused "a limit that is too small is refused" 'No such device' load xhca block=64
like "the log says what to do" "allow block=$((size / 1024))" dmesg
is "there is no other line" "$(dmesg | grep xhca: | grep -cv taint)" 1
is "no PCI bus is left" "$(pci)" 0
is "the kernel has all its memory" "$(ram)" "$before2"
finish
