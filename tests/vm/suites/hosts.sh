#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two hosts that are connected by Ethernet, in the VM "pair": the commands of the README for two
# hosts without adapters, with the addresses of the interface and with others, and programs between
# both. Then the other host uses rdma_rxe, which shares no code with xhca. The short form runs one
# program of each kind. The suite "wire" runs the others in one VM.
. ./lib.sh
. ./ends.sh
. ./nvme.sh
. ./ssh.sh

PEER=(./there) PEER_NAME="the other host"
WIRE_HERE=eth0 WIRE_THERE=eth0
ADDR0=10.76.0.1 ADDR1=10.76.0.2	# of the Ethernet interfaces
README=../../../README.md
WORK=/dev/shm/hosts ADDR=10.1.1.2	# for ssh.sh and nvme.sh
mkdir $WORK

# there FUNCTION...: runs a function of these files on the other host
there() {
	"${PEER[@]}" env "ADDR=$ADDR" "WORK=$WORK" \
		bash -c '. ./lib.sh; . ./nvme.sh; . ./ssh.sh; "$@"' - "$@"
}

frames() { awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/xhca/0/frames; }

# ---- The commands of the README

# readme N: the lines of the Nth list of commands of its section
readme() {
	sed -n '/^### Between two hosts/,/^## /p' $README |
		awk -v n="$1" '/^    / && !last { list++ } { last = /^    / }
			last && list == n { print substr($0, 5) }'
}
# Those that prepare a host. The installed product runs here, so "make install" is done.
readme_setup() { readme "$1" | sed 's/#.*//' | grep -v '^make install' | grep -v '^rping'; }
readme_server() { readme "$1" | sed -n 's/^\(rping [^#]*\) #.*/\1/p'; }
readme_client() { readme "$1" | sed -n 's/^rping .*# and there: //p'; }

# try_readme N ADDRESS: runs the commands of a list on both hosts. In the list, ADDRESS is the
# address of this host.
try_readme() {
	ok "README $1: prepare the host" bash -ec "$(readme_setup "$1")"
	ok "README $1: prepare the other host" "${PEER[@]}" bash -ec "$(readme_setup "$1" |
		sed "s,addr add $HERE/,addr add $THERE/,")"
	ok "the port has its GID" wait_for 20 has_gid mlx5_0 $HERE
	ok "the port of the other host has its GID" there wait_for 20 has_gid mlx5_0 $THERE
	# shellcheck disable=SC2046 # words
	pair "README $1: rping" "cm_listening 7174" '' \
		$(readme_server "$1" | sed "s/$2/$HERE/") -- \
		"${PEER[@]}" $(readme_client "$1" | sed "s/$2/$HERE/")
	like "ping" ' 0% packet loss' ping -c 3 -i 0.2 $THERE
}

# What udev loads
modules=(modprobe -a mlx5_ib ib_uverbs rdma_ucm)
ok "drivers" "${modules[@]}"
ok "drivers on the other host" "${PEER[@]}" "${modules[@]}"
HERE=$ADDR0 THERE=$ADDR1
try_readme 1 192.0.2.1
both_checked
ok "remove the function" xhcactl del 0
ok "and that of the other host" "${PEER[@]}" xhcactl del 0
HERE=10.1.1.1 THERE=10.1.1.2
try_readme 2 $HERE

# ---- Programs

# From 6.7 on, virtio_net tells its device the group in a work item, which may run after the program
# has joined; before, the device drops what comes. Nothing shows when that is done.
# shellcheck disable=SC2317 # called by pair
has_joined() { joined && pause 1; }

# multicast GROUP: mckey, with the receiver here, then there. Its programs pause for seconds. On the
# other host it leaves late, because that may have rdma_rxe.
multicast() {
	local late=LD_PRELOAD=../../../build/stock/leave_preload.so
	pair "mckey: multicast from $PEER_NAME" has_joined 'return status 0' \
		stdbuf -oL mckey -m "$1" -b $HERE -C 10 -- \
		"${PEER[@]}" env $late mckey -s -m "$1" -b $THERE -C 10
	pair "mckey: multicast to $PEER_NAME" has_joined 'return status 0' \
		"${PEER[@]}" stdbuf -oL mckey -m "$1" -b $THERE -C 10 -- \
		mckey -s -m "$1" -b $HERE -C 10
}

# native TEST SIZES: xv_perf, with the server here; both ends use /dev/xverbs
native() {
	PORT=$((PORT + 1))
	# shellcheck disable=SC2086 # a test with options
	perf_pair "xv_perf: $1" "$(set -- $1; echo "${*: -2:1}")" "$2" 100 \
		xv_perf --listen=:$PORT -- "${PEER[@]}" xv_perf -n 100 $1 $ADDR0:$PORT
}

# ucx TRANSPORT: io_demo reads and writes with checked data
ucx() {
	local options=(-q -d "1000:60000")
	local words=(env "UCX_TLS=$1,self" UCX_LOG_LEVEL=warn UCX_NET_DEVICES=mlx5_0:1)
	PORT=$((PORT + 1))
	STAYS=1 pair "UCX: checked data by $1" "cm_listening $PORT" "exit with status 'OK'" \
		"${words[@]}" io_demo -p $PORT "${options[@]}" -- "${PEER[@]}" "${words[@]}" \
		io_demo -p $PORT "${options[@]}" -i 100 -o read,write $HERE
}

# programs GROUP: stock programs, and a multicast group
programs() {
	if full; then
		both_programs
	else
		both_checked
	fi
	multicast "$1"
}

programs 239.1.2.3
both_perf "ib_send_bw: datagrams" '^ *1024 +100' ib_send_bw -c UD -s 1024 -n 100
ok "xverbs" modprobe xverbs
ok "xverbs on the other host" "${PEER[@]}" modprobe xverbs
both "rping with xv_run" 7177 '' "-s -a ADDRESS" "-c -a ADDRESS" \
	xv_run rping -p 7177 -V -C 20 -S 4096
! full || both_perf "ib_write_bw with xv_run" '^ *65536 +100' xv_run ib_write_bw -s 65536 -n 100
native "lat write" 64
native "-T ud bw send" 64

# doca: examples of the DOCA-compatible libraries, with the passive program here
EX=../../../build/user/examples
doca() {
	local port=$((PORT + 1)) gid
	gid=$(there gid_index mlx5_0)
	PORT=$((PORT + 2))
	pair "tasks of doca_rdma, by rdma_cm" "cm_listening $port" \
		'received 14 bytes: Hi DOCA RDMA!' \
		$EX/doca_rdma/rdma_receive -d mlx5_0 -cm -lp $port -- \
		"${PEER[@]}" $EX/doca_rdma/rdma_send -d mlx5_0 -cm -lp $port -sa $HERE
	pair "doca_verbs: a write" "listening $PORT" 'client has written: of the client' \
		$EX/doca_verbs/verbs_server_client -d mlx5_0 -gid "$(gid_index mlx5_0)" \
		-p $PORT -ro Write -t 'of the server' -- \
		"${PEER[@]}" $EX/doca_verbs/verbs_server_client -d mlx5_0 -gid "$gid" \
		-p $PORT -ro Write -t 'of the client' -c $ADDR0
}
doca

libfabric() {
	libfabric_ready
	ok "libfabric on the other host" there libfabric_ready
	PORT=$((PORT + 1))
	pair "libfabric: endpoints of type msg" "listening $PORT" '^64 ' \
		fi_pingpong -p verbs -d mlx5_0 -e msg -c -I 50 -B $PORT -- \
		"${PEER[@]}" fi_pingpong -p verbs -d mlx5_0 -e msg -c -I 50 -P $PORT $HERE
}

if full; then
	native "-s 64-4096 bw send" 64,128,256,512,1024,2048,4096
	native "-s 4096 bw read" 4096
	native "lat fetch_add" 8
	native "-T uc bw write_imm" 64
	native "-T xrc lat send_imm" 64
	ucx rc_mlx5,ud_mlx5
	ucx rc_verbs,ud_verbs
	libfabric
fi

# ---- rsync

# The contents of all files below a directory
sums() { (cd "$1" && find . -type f -exec sha256sum {} + | sort); }
# shellcheck disable=SC2317 # called by ok
sent() {
	"${PEER[@]}" sh -c "cd $WORK/there && find . -type f -exec sha256sum {} + | sort" |
		diff - <(sums $WORK/here)
}

mkdir -p $WORK/here/deep
head -c 8M /dev/urandom > $WORK/here/deep/big
for i in {1..50}; do echo "file $i" > "$WORK/here/deep/f $i"; done
ok "a key for ssh" ssh_client $ADDR1
ok "sshd on the other host" there ssh_server $ADDR1 "$(< $WORK/key.pub)"
export RSYNC_RSH="xv_rsh -F $WORK/ssh_config"
like "xv_rsh uses RDMA" '"rdma": *true' xv_rsh -F $WORK/ssh_config --json there true
ok "rsync to the other host" rsync -a $WORK/here/ there:$WORK/there/
ok "the contents are the same there" sent
ok "rsync from the other host" rsync -a there:$WORK/there/ $WORK/back/
ok "the contents are the same here" diff -r $WORK/here $WORK/back

# ---- Collective operations

# A script that runs a command several times at once, each time with other arguments.
AT_ONCE='command=$1; shift
for arguments; do $command $arguments & pids+=($!); done
for pid in "${pids[@]}"; do wait $pid || exit; done'

# Six processes, three on each host
collective() {
	local run
	PORT=$((PORT + 1))
	run="$(realpath ../../../build/user/examples)/collective_hosts -p $PORT 6"
	pair "collective operations: six processes" "listening $PORT" '^rank 0 of 6: 20 sums' \
		bash -c "$AT_ONCE" - "$run" "" "1 $ADDR0" "2 $ADDR0" -- \
		"${PEER[@]}" bash -c "$AT_ONCE" - "$run" "3 $ADDR0" "4 $ADDR0" "5 $ADDR0"
}

# Open MPI, whose processes on both hosts reach each other with UCX. The program compares contents.
mpi() {
	mkdir -p ~/.ssh && cp $WORK/ssh_config ~/.ssh/config
	like "Open MPI: messages of 1 byte to 256 KiB" ' 262144 bytes .*Integrity check passed' \
		mpirun.openmpi --allow-run-as-root --host $ADDR0,there -np 2 --mca pml ucx \
		--mca opal_common_ucx_tls any --mca opal_common_ucx_devices any \
		-x UCX_TLS=rc_mlx5,ud_mlx5,self -x UCX_NET_DEVICES=mlx5_0:1 \
		NPopenmpi -i -n 20 -p 0 -l 1 -u 300000 -o /dev/null
}

collective
! full || mpi

if full; then
	lossy 1 both_checked
	lossy 5 both "rping with a loss of 5 %" 7178 '' "-s -a ADDRESS" "-c -a ADDRESS" \
		rping -p 7178 -V -C 20 -S 20000
fi
echo "# the adapter has received $(frames received) frames and dropped $(frames dropped)"

# ---- xv_hwtest

# hwtest STEPS: it finds no difference; "" are all steps
# shellcheck disable=SC2317 # called by like
hwtest() {
	xv_hwtest ${1:+--steps "$1"} --ssh=-F --ssh=$WORK/ssh_config --output $WORK/hwtest \
		mlx5_0 there && cat $WORK/hwtest
}
! full || like "xv_hwtest: the other host has xverbs" 'note: the other end: host' hwtest ''
ok "it has the software adapter only" "${PEER[@]}" rmmod xverbs
steps=ud_pingpong,lossy_rping
! full || steps=
like "xv_hwtest: the wire" 'note: the other end: wire' hwtest "$steps"
like "captures of both ends" '^2$' grep -c '^note: the capture of .*, [0-9]\{4,\} bytes' \
	$WORK/hwtest

# ---- A peer that is lost

# shellcheck disable=SC2317 # called by wait_for
received_more() { [ "$(frames received)" -gt $(($1 + 1000)) ]; }

# lost DESCRIPTION COMMAND...: the command ends the port or the function of the other host under
# traffic. The adapter tries seven times more, with its shortest timeout of 2 * 4.096 us * 2^16:
# four seconds in all. The rest is for a busy host.
lost() {
	local what=$1 server client before start ms
	shift
	PORT=$((PORT + 1))
	"${PEER[@]}" ib_write_bw -F -d mlx5_0 -x "$(there gid_index mlx5_0)" -p $PORT \
		-s 4096 -n 10000000 > /dev/null &
	server=$!
	there wait_for "$LIMIT" listening $PORT
	ib_write_bw -F -d mlx5_0 -x "$(gid_index mlx5_0)" -p $PORT -s 4096 -n 10000000 $ADDR1 \
		> $WORK/lost 2>&1 &
	client=$!
	before=$(frames received)
	ok "$what: traffic" wait_for "$LIMIT" received_more "$before"
	is "$what: the peer is listed" "$(xhcactl list --json | jq -c '[.[].peers[]]')" \
		"[{\"gid\":\"::ffff:$THERE\",\"qps\":1}]"
	like "$what: with the long list" "^    peer ::ffff:$THERE: 1 queue pairs$" \
		xhcactl list --long
	start=${EPOCHREALTIME/./}
	ok "$what: $*" "${PEER[@]}" "$@"
	wait_for 60 eval "! kill -0 $client 2> /dev/null" || kill $client
	ms=$(((${EPOCHREALTIME/./} - start) / 1000))
	wait $client
	kill $server
	wait $server 2> /dev/null
	like "$what: retries exceeded" 'status 12:' cat $WORK/lost
	ok "$what: after $ms ms" test $ms -gt 2500 -a $ms -lt 20000
}

if full; then
	lost "the cable of the peer is pulled" xhcactl fault 0 down
	ok "the cable is plugged" "${PEER[@]}" xhcactl fault 0 up
	ok "the peer is back" wait_for 20 ping -qc 1 -W 1 $THERE
	both "rping afterwards" 7174 '' "-s -a ADDRESS" "-c -a ADDRESS" rping -V -C 20
fi
lost "the function of the peer is removed" xhcactl del 0

# ---- The other host uses rdma_rxe.
PEER_NAME="rdma_rxe"
ok "rdma_rxe on the other host" "${PEER[@]}" sh -ec "modprobe rdma_rxe
	ip address add $THERE/24 dev eth0
	rdma link add rxe type rxe netdev eth0"
ok "it has its GID" there wait_for 20 has_gid rxe $THERE
# The address has another MAC address now; the old one would be valid for up to 45 seconds.
ok "its old MAC address is forgotten" ip neigh flush to $THERE
ok "it is reached" wait_for 20 ping -qc 1 -W 1 $THERE
programs 239.1.2.4

# nvme TARGET HOST: NVMe over Fabrics in the kernels; each of both is here or there
here() { "$@"; }
nvme() {
	local what="NVMe, target $1" n sizes=(4k 128k 1M)
	ok "$what: modules of the target" "$1" modprobe -a brd nvmet_rdma
	ok "$what: modules of the host" "$2" modprobe nvme_rdma
	ok "$what: start" "$1" nvme_target
	ok "$what: the host connects" "$2" nvme_host
	for n in 1 2 3; do
		ok "$what: write in blocks of ${sizes[n - 1]}" "$2" nvme_write $n "${sizes[n - 1]}"
		ok "$what: the RAM disk has the data" "$1" nvme_arrived $n
		ok "$what: read in blocks of ${sizes[n - 1]}" "$2" nvme_read $n "${sizes[n - 1]}"
	done
	ok "$what: the host leaves" "$2" nvme_host_leave
	ok "$what: it is removed" "$1" nvme_target_leave
}

if ! full; then
	diag <<< "NVMe over Fabrics needs FULL=1"
elif modinfo nvme_rdma > /dev/null 2>&1; then
	ADDR=$THERE nvme there here
	ADDR=$HERE nvme here there
else
	skip "NVMe over Fabrics" "the kernel is built without it"
fi
! full || lossy 1 both_checked
finish
