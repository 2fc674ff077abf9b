#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NVMe over Fabrics of the kernel, target and host, on a RAM disk. Both register memory with
# work requests (fast registration) and use remote invalidation.
. ./lib.sh

NVMET=/sys/kernel/config/nvmet
ADDR=10.77.0.1
DISK=''

# shellcheck disable=SC2317
target() {
	mount -t configfs configfs /sys/kernel/config 2>/dev/null
	mkdir -p $NVMET/subsystems/disk/namespaces/1 $NVMET/ports/1 || return
	echo 1 > $NVMET/subsystems/disk/attr_allow_any_host
	echo /dev/ram0 > $NVMET/subsystems/disk/namespaces/1/device_path
	echo 1 > $NVMET/subsystems/disk/namespaces/1/enable || return
	echo rdma > $NVMET/ports/1/addr_trtype
	echo ipv4 > $NVMET/ports/1/addr_adrfam
	echo $ADDR > $NVMET/ports/1/addr_traddr
	echo 4420 > $NVMET/ports/1/addr_trsvcid
	ln -s $NVMET/subsystems/disk $NVMET/ports/1/subsystems/
}

# shellcheck disable=SC2317
host() { echo "transport=rdma,traddr=$ADDR,trsvcid=4420,nqn=disk" > /dev/nvme-fabrics; }

# shellcheck disable=SC2317
disk() {
	DISK=$(find /dev -name 'nvme*n1' | head -n 1)
	[ -n "$DISK" ]
}

# shellcheck disable=SC2317
leave() {
	local c
	for c in /sys/class/nvme/nvme*/delete_controller; do echo 1 > "$c"; done
	rm $NVMET/ports/1/subsystems/disk
	rmdir $NVMET/ports/1 $NVMET/subsystems/disk/namespaces/1 $NVMET/subsystems/disk
	rmmod nvme_rdma nvmet_rdma
}

qps() { awk '$1 == "qps" { print $2 }' /sys/kernel/debug/xhca/*/objects | xargs; }

before=$(qps)
ok "modules load" modprobe -a brd nvmet_rdma nvme_rdma
ok "a target on a RAM disk" target
ok "a host connects" host
ok "its disk appears" wait_for 20 disk
head -c 8M /dev/urandom > /dev/shm/data
for size in 4k 128k 1M; do
	ok "write in blocks of $size" \
		dd if=/dev/shm/data of="$DISK" bs=$size oflag=direct status=none
	dd if=/dev/ram0 of=/dev/shm/back bs=1M count=8 iflag=direct status=none
	ok "the RAM disk has the data" cmp /dev/shm/data /dev/shm/back
	ok "read in blocks of $size" \
		dd if="$DISK" of=/dev/shm/back bs=$size count=8M \
			iflag=direct,count_bytes status=none
	ok "the data is the same" cmp /dev/shm/data /dev/shm/back
	head -c 8M /dev/urandom > /dev/shm/data
done
ok "host and target are removed" leave
is "no queue pair is left" "$(qps)" "$before"
rm -f /dev/shm/data /dev/shm/back
finish
