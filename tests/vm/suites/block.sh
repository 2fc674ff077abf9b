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
taken() { dmesg | sed -n 's/.*xhca: took .* at \(0x[0-9a-f]*\) .*/\1/p'; }

# set_blocks online|offline: sets blocks of memory to this state. Some stay online: the kernel
# tries to move a page that cannot move until a signal ends this, so each attempt has 3 seconds.
set_blocks() {
	local state
	for state in "$BLOCKS"/memory*/state; do
		[ "$(< "$state")" = "$1" ] ||
			timeout 3 sh -c "echo $1 > $state" 2> /dev/null
	done
}
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

# ---- A block that cannot be moved
dmesg -C
ok "load it again" load xhca
highest=$(taken)
ok "unload it again" rmmod xhca
../../../build/stock/pin "$highest" $((size * 1024)) > "$OUT.pin" 2>&1 &
pin=$!
ok "a page of the block that it took is pinned" wait_for 30 grep -q pinned "$OUT.pin"
dmesg -C
ok "load while a block cannot be moved" load xhca
ok "it has taken another one" test -n "$(taken)" -a "$(taken)" != "$highest"
ok "unload it after that" rmmod xhca
kill $pin
wait $pin
rm -f "$OUT.pin"
restored=$(ram)
ok "the kernel has the memory of that block back, too" [ "$restored" -ge "$before2" ]
before2=$restored

# ---- No block
# The kernel tries for seconds to move pages that it cannot move.
if full; then
	set_blocks offline
	dmesg -C
	refused "no block can be taken" 'busy' load xhca
	like "the log says what to do about that" \
		'the kernel cannot remove [0-9]+ MiB of memory: try again, or boot with' dmesg
	is "no PCI bus is left after that" "$(pci)" 0
	set_blocks online
	is "all blocks are back" "$(blocks)" "$blocks"
	# A block that was offline and is online again has more free memory: see above.
	before2=$(ram)
	ok "now there is one" load xhca
	ok "unload it at the end" rmmod xhca
fi

dmesg -C
refused "a limit that is too small is refused" 'No such device' load xhca block=64
like "the log says what to do" "allow block=$((size / 1024))" dmesg
is "there is no other line" "$(dmesg | grep xhca: | grep -cv taint)" 1
is "no PCI bus is left" "$(pci)" 0
is "the kernel has all its memory" "$(ram)" "$before2"
finish
