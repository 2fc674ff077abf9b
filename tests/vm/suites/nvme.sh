# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by suites that use NVMe over Fabrics: a target on /dev/ram0, at the address ADDR, and a
# host, in the kernel. DISK is the block device of the host.

NVMET=/sys/kernel/config/nvmet
DISK=''

# shellcheck disable=SC2317
nvme_target() {
	mount -t configfs configfs /sys/kernel/config 2>/dev/null
	mkdir -p $NVMET/subsystems/disk/namespaces/1 $NVMET/ports/1 || return
	echo 1 > $NVMET/subsystems/disk/attr_allow_any_host
	echo /dev/ram0 > $NVMET/subsystems/disk/namespaces/1/device_path
	echo 1 > $NVMET/subsystems/disk/namespaces/1/enable || return
	echo rdma > $NVMET/ports/1/addr_trtype
	echo ipv4 > $NVMET/ports/1/addr_adrfam
	echo "$ADDR" > $NVMET/ports/1/addr_traddr
	echo 4420 > $NVMET/ports/1/addr_trsvcid
	ln -s $NVMET/subsystems/disk $NVMET/ports/1/subsystems/
}

# shellcheck disable=SC2317
nvme_host() { echo "transport=rdma,traddr=$ADDR,trsvcid=4420,nqn=disk" > /dev/nvme-fabrics; }

# shellcheck disable=SC2317
nvme_disk() {
	DISK=$(find /dev -name 'nvme*n1' | head -n 1)
	[ -n "$DISK" ]
}

# 7 MiB of known contents, other ones for each N from 1 to 9
nvme_data() { seq "${1}000000" "${1}999999" | head -c 7M; }

# nvme_write N BLOCK, nvme_read N BLOCK: writes these contents to the disk, or compares them
# shellcheck disable=SC2317
nvme_write() {
	wait_for 20 nvme_disk && nvme_data "$1" |
		dd of="$DISK" bs="$2" iflag=fullblock oflag=direct status=none
}
# shellcheck disable=SC2317
nvme_read() {
	nvme_disk && dd if="$DISK" bs="$2" count=7M iflag=direct,count_bytes status=none |
		cmp - <(nvme_data "$1")
}
# nvme_arrived N: the RAM disk has these contents.
# shellcheck disable=SC2317
nvme_arrived() {
	dd if=/dev/ram0 bs=1M count=7 iflag=direct status=none | cmp - <(nvme_data "$1")
}

# shellcheck disable=SC2317
nvme_host_leave() {
	local c
	for c in /sys/class/nvme/nvme*/delete_controller; do echo 1 > "$c"; done
	rmmod nvme_rdma
}

# shellcheck disable=SC2317
nvme_target_leave() {
	rm $NVMET/ports/1/subsystems/disk
	rmdir $NVMET/ports/1 $NVMET/subsystems/disk/namespaces/1 $NVMET/subsystems/disk
	rmmod nvmet_rdma
}
