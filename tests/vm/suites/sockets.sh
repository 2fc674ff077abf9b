#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of TCP sockets and a network file system use RDMA: rsockets of librdmacm and SMC-R of
# the kernel carry the streams of netcat, NFS over RDMA carries files. The port counters show
# that the data did not take another way.
. ./lib.sh
FILE=/dev/shm/sockets.data
BYTES=2000000
RSOCKETS=$(echo /usr/lib/*/rsocket/librspreload.so)
SMC=$(realpath ../../../build/stock/smc_preload.so)
EXPORT=/dev/shm/export
MOUNT=/mnt/xhca-nfs

received() { echo $((4 * $(cat "/sys/class/infiniband/$DEV0/ports/1/counters/port_rcv_data"))); }
qps() { awk '$1 == "qps" { print $2 }' /sys/kernel/debug/xhca/*/objects | xargs; }

# shellcheck disable=SC2317 # called by wait_for
served() { listening "$1" || cm_listening "$1"; }

# stream LIBRARY: netcat sends the file with that library preloaded
stream() {
	PORT=$((PORT + 1))
	LD_PRELOAD=$1 timeout "$LIMIT" nc.traditional -l -p $PORT -s $ADDR0 > $FILE.copy &
	wait_for 10 served $PORT || return
	LD_PRELOAD=$1 timeout "$LIMIT" ip netns exec peer \
		nc.traditional -q 1 $ADDR0 $PORT < $FILE || return
	wait $! && cmp $FILE $FILE.copy
}

# by_rdma COMMAND...: succeeds if the command sends the file over the RDMA port
by_rdma() {
	local before
	before=$(received)
	"$@" && [ $(($(received) - before)) -ge $BYTES ]
}

# not_by_rdma COMMAND...: succeeds if the command sends the file another way
not_by_rdma() {
	local before
	before=$(received)
	"$@" && [ $(($(received) - before)) -lt $BYTES ]
}

head -c $BYTES /dev/urandom > $FILE
ok "two functions in two network namespaces" peer_up
ok "without RDMA, the port does not count the file" not_by_rdma stream ""
ok "rsockets: netcat" by_rdma stream "$RSOCKETS"
# Newer drivers create a queue pair of their own when memory is registered first.
before=$(qps)

if modprobe -q smc; then
	ok "SMC-R: netcat" by_rdma stream "$SMC"
	ok "SMC-R is unloaded" rmmod smc
else
	skip "SMC-R" "the kernel has no module smc"
fi

# ---- NFS over RDMA. The caches of exports are filled by hand, as rpc.mountd would do it.
FOREVER=2147483647
FLAGS=$((0x2402))	# fsid=0, no_subtree_check, insecure; and no_root_squash, rw

# shellcheck disable=SC2317 # called by ok
nfs_server() {
	mkdir -p $EXPORT /var/lib/nfs/v4recovery $MOUNT
	mount -t tmpfs tmpfs $EXPORT && modprobe -a nfsd rpcrdma nfsv4 || return
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || return
	echo "-3 +4.2" > /proc/fs/nfsd/versions
	echo 10 > /proc/fs/nfsd/nfsv4gracetime
	echo 10 > /proc/fs/nfsd/nfsv4leasetime
	echo "rdma 20049" > /proc/fs/nfsd/portlist && echo 2 > /proc/fs/nfsd/threads || return
	echo "nfsd $ADDR1 $FOREVER all" > /proc/net/rpc/auth.unix.ip/channel
	echo "all $EXPORT $FOREVER $FLAGS 65534 65534 0" > /proc/net/rpc/nfsd.export/channel
	printf 'all 1 \\x00000000 %s %s\n' $FOREVER $EXPORT > /proc/net/rpc/nfsd.fh/channel
}

# shellcheck disable=SC2317 # called by ok
nfs_mount() {
	# Not ip netns exec: its mounts are seen by its command only.
	nsenter --net=/run/netns/peer mount -i -t nfs4 $ADDR0:/ $MOUNT -o \
		"vers=4.2,addr=$ADDR0,clientaddr=$ADDR1,proto=rdma,port=20049,sec=sys"
}

# shellcheck disable=SC2317 # called by ok
nfs_write() { cp $FILE $MOUNT/data && sync -f $MOUNT && cmp $FILE $EXPORT/data; }

# shellcheck disable=SC2317 # called by ok
nfs_read() {
	head -c $BYTES /dev/urandom > $EXPORT/other
	cp $MOUNT/other $FILE.copy && cmp $FILE.copy $EXPORT/other
}

# shellcheck disable=SC2317 # called by ok
# The server closes the files of its cache after its threads have ended.
nfs_leave() {
	umount $MOUNT && echo 0 > /proc/fs/nfsd/threads && wait_for 20 umount $EXPORT &&
		umount /proc/fs/nfsd && rmmod rpcrdma
}

ok "NFS: the server" nfs_server
LIMIT=60
ok "NFS: a mount by RDMA" nfs_mount
like "NFS: it says so" 'proto=rdma' grep $MOUNT /proc/mounts
ok "NFS: the server reads what the client writes" by_rdma nfs_write
ok "NFS: the client reads what the server has" nfs_read
ok "NFS: it ends" nfs_leave
ok "back in one namespace" peer_down
is "no queue pair is left" "$(qps)" "$before"
rm -f $FILE $FILE.copy
finish
