#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Block devices over RDMA, target and host in the kernel: NVMe over Fabrics and iSER. They
# register memory with work requests (fast registration) and use remote invalidation.
. ./lib.sh
. ./nvme.sh

LIO=/sys/kernel/config/target
NAME=iqn.2026-01.xhca.test:disk
TARGET=$LIO/iscsi/$NAME/tpgt_1
ADDR=10.77.0.1

# shellcheck disable=SC2317
nvme_leave() { nvme_host_leave && nvme_target_leave; }

# ---- iSER

# shellcheck disable=SC2317
iser_target() {
	modprobe -a target_core_mod iscsi_target_mod ib_isert || return
	mkdir -p $LIO/core/iblock_0/disk "$TARGET/lun/lun_0" "$TARGET/np/$ADDR:3260" || return
	echo udev_path=/dev/ram0 > $LIO/core/iblock_0/disk/control
	echo 1 > $LIO/core/iblock_0/disk/enable || return
	ln -s $LIO/core/iblock_0/disk "$TARGET/lun/lun_0/disk"
	echo 1 > "$TARGET/np/$ADDR:3260/iser" || return
	echo 0 > "$TARGET/attrib/authentication"
	echo 1 > "$TARGET/attrib/generate_node_acls"
	echo 0 > "$TARGET/attrib/demo_mode_write_protect"
	echo 1 > "$TARGET/enable"
}

node() { timeout -k 5 30 iscsiadm -m node -T $NAME -p $ADDR:3260 "$@"; }

# shellcheck disable=SC2317
iser_host() {
	modprobe -a ib_iser sd_mod || return
	mkdir -p /var/lib/iscsi /run/lock/iscsi
	echo InitiatorName=iqn.2026-01.xhca.test:host > /etc/iscsi/initiatorname.iscsi
	# It ends its process group with it.
	setsid iscsid -f > /dev/shm/iscsid.log 2>&1 &
	ISCSID=$!
	wait_for 10 iscsiadm -m host -P 0 > /dev/null
	node -o new && node -o update -n iface.transport_name -v iser && node --login
}

# shellcheck disable=SC2317
iser_disk() {
	DISK=$(find /dev -name 'sd?' | head -n 1)
	[ -n "$DISK" ]
}

# shellcheck disable=SC2317
ended() { ! kill -0 "$1" 2> /dev/null; }

# The target ends a session after the logout. If it is disabled before that, kernel 7.3 can free
# the ACL that the session still uses, and panics (transport_deregister_session_configfs()).
# shellcheck disable=SC2317
has_session() { grep -q . "$TARGET/dynamic_sessions"; }
# shellcheck disable=SC2317
no_session() { ! has_session; }

# shellcheck disable=SC2317
iser_leave() {
	node --logout || return
	kill "$ISCSID" && wait_for 20 ended "$ISCSID" || return
	wait_for 20 no_session || return
	echo 0 > "$TARGET/enable"
	rm "$TARGET/lun/lun_0/disk"
	rmdir "$TARGET/np/$ADDR:3260" "$TARGET/lun/lun_0" "$TARGET" "${TARGET%/*}" \
		$LIO/core/iblock_0/disk $LIO/core/iblock_0
	rmmod ib_iser ib_isert
}

# ---- The same for both

qps() { awk '$1 == "qps" { print $2 }' /sys/kernel/debug/xhca/*/objects | xargs; }

# The disk and the RAM disk below it have the same data.
transfers() {
	local size bytes
	for size in 4k 128k 1M; do
		bytes=8M
		full || [ $size != 4k ] || bytes=2M
		head -c $bytes /dev/urandom > /dev/shm/data
		ok "$1: write in blocks of $size" \
			dd if=/dev/shm/data of="$DISK" bs=$size oflag=direct status=none
		dd if=/dev/ram0 of=/dev/shm/back bs=1M count=$bytes iflag=direct,count_bytes \
			status=none
		ok "$1: the RAM disk has the data" cmp /dev/shm/data /dev/shm/back
		ok "$1: read in blocks of $size" \
			dd if="$DISK" of=/dev/shm/back bs=$size count=$bytes \
				iflag=direct,count_bytes status=none
		ok "$1: the data is the same" cmp /dev/shm/data /dev/shm/back
	done
}

before=$(qps)
ok "modules load" modprobe -a brd nvmet_rdma nvme_rdma
for kind in nvme iser; do
	ok "$kind: a target on a RAM disk" ${kind}_target
	ok "$kind: a host connects" ${kind}_host
	ok "$kind: its disk appears" wait_for 20 ${kind}_disk
	transfers $kind
	[ $kind = nvme ] || ok "iser: the target lists its session" has_session
	ok "$kind: host and target are removed" ${kind}_leave
	is "$kind: no queue pair is left" "$(qps)" "$before"
done
rm -f /dev/shm/data /dev/shm/back
finish
