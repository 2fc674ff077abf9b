# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by every suite: functions that run tests and print TAP. A suite is an executable
# script tests/vm/suites/NAME.sh that runs in the VM as root. It ends with `finish`, which
# prints the plan; a suite that stops earlier has no plan and fails.
# Each suite needs a line in tests/vm/suites.conf, which tells tests/run where and how
# to run it.
#
# Starting a program takes long on the emulated machine, so these functions use features
# of the shell where they can.

TESTS=0 FAILED=0
OUT=$(mktemp)		# output of the last command
exec {NEVER}<> <(:)	# a descriptor that never becomes readable, for pause
KERNEL_LINES=0		# lines of the kernel log that were shown
LIMIT=60		# seconds for one command, also if the machine does other work
PORT=${PORT:-18600}	# TCP port of the last pair of programs

# On the debug kernel everything takes several times as long.
debug_kernel() { [ -e /sys/kernel/debug/kmemleak ]; }
! debug_kernel || LIMIT=120
# The lists beside the suite take a part of the time.
[ -z "${DUMPS:-}" ] || LIMIT=$((2 * LIMIT))

# True if FULL=1 asks for all programs of a suite. They check data and timing, so they do
# not run on the debug kernel, which looks for errors of the code.
full() { [ "${FULL:-0}" != 0 ] && ! debug_kernel; }

# True if FULL=1 also asks for all sizes and for more repetitions. They need much time and
# make no other calls of the kernel, so they run on one kernel.
long() { full && [[ $(uname -r) = 6.1.* ]]; }

diag() { sed 's/^/# /'; }

pass() {
	TESTS=$((TESTS + 1))
	echo "ok $TESTS - $1"
}

fail() {
	TESTS=$((TESTS + 1)) FAILED=$((FAILED + 1))
	echo "not ok $TESTS - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | diag
	new_kernel_lines > "$OUT.kernel"
	diag < "$OUT.kernel"
}

# Prints the last lines of the kernel log since the last failure.
new_kernel_lines() {
	local seen=$KERNEL_LINES
	KERNEL_LINES=$(dmesg | wc -l)
	dmesg | tail -n +$((seen + 1)) | tail -n 6
}

skip() {
	TESTS=$((TESTS + 1))
	echo "ok $TESTS - $1 # SKIP $2"
}

finish() {
	join
	echo "1..$TESTS"
	rm -f "$OUT" "$OUT".{kernel,server}
	[ $FAILED -eq 0 ]
	exit
}

# attempt COMMAND...: runs a function, or a program with the time limit; output in $OUT
attempt() {
	local guard=(timeout -k 5 "$LIMIT")
	! declare -F "$1" > /dev/null || guard=()
	"${guard[@]}" "$@" > "$OUT" 2>&1 < /dev/null
}

# ok DESCRIPTION COMMAND...: the command must succeed
ok() {
	local what=$1 rc
	shift
	attempt "$@"
	rc=$?
	if [ $rc -eq 0 ]; then pass "$what"
	else fail "$what" "status $rc from: $*"; tail -n 20 "$OUT" | diag; fi
}

# refused DESCRIPTION REGEX COMMAND...: the command must exit with a failure, without a
# signal or a timeout, and print a line that matches REGEX
refused() {
	local what=$1 want=$2 rc
	shift 2
	attempt "$@"
	rc=$?
	if [ $rc -gt 0 ] && [ $rc -lt 124 ] && grep -Eq -- "$want" "$OUT"; then pass "$what"
	else fail "$what" "status $rc, wanted failure with /$want/ from: $*"
		tail -n 20 "$OUT" | diag; fi
}

# like DESCRIPTION REGEX COMMAND...: the command must succeed and print a matching line
like() {
	local what=$1 want=$2 rc
	shift 2
	attempt "$@"
	rc=$?
	if [ $rc -eq 0 ] && grep -Eq -- "$want" "$OUT"; then pass "$what"
	else fail "$what" "status $rc, wanted /$want/ from: $*"
		tail -n 20 "$OUT" | diag; fi
}

# is DESCRIPTION GOT WANTED: both strings must be equal
is() {
	if [ "$2" = "$3" ]; then pass "$1"
	else fail "$1" "got \"$2\", wanted \"$3\""; fi
}

# tap PROGRAM ARGUMENT...: runs a program that prints TAP and counts its tests. It is a
# failure if the program ends early or prints no plan.
tap() {
	local name=${1##*/} rc plan='' n=0 line
	timeout -k 5 "${TAP_LIMIT:-$((4 * LIMIT))}" "$@" > "$OUT" 2>&1 < /dev/null
	rc=$?
	while IFS= read -r line; do
		case $line in
		"ok "*" # SKIP "*)
			n=$((n + 1)) line=${line#* - }
			skip "$name: ${line% # SKIP *}" "${line#* # SKIP }" ;;
		"ok "*) n=$((n + 1)); pass "$name: ${line#* - }" ;;
		"not ok "*) n=$((n + 1)); fail "$name: ${line#* - }" ;;
		"1..0 # SKIP"*/dev/xverbs* | "1..0 # SKIP no device"*)
			plan=0; fail "$name" "$line" ;;
		"1..0 # SKIP"*) plan=0; skip "$name" "${line#*SKIP }" ;;
		1..*) plan=${line#1..} ;;
		"# "*) echo "$line" ;;
		*) echo "# $line" ;;
		esac
	done < "$OUT"
	if [ "$plan" != "$n" ] || { [ $rc -ne 0 ] && ! grep -q '^not ok' "$OUT"; }; then
		fail "$name runs to its end" "status $rc, plan ${plan:-missing}, $n tests"
		tail -n 5 "$OUT" | diag
	fi
}

# listening PORT: a process listens on the TCP port
listening() {
	local hex table
	printf -v hex ':%04X' "$1"
	for table in /proc/net/tcp /proc/net/tcp6; do
		table=$(< $table)
		[[ $table != *"$hex "+([0-9A-F])":0000 0A "* ]] || return 0
	done
	return 1
}

# pause SECONDS: sleeps without starting a program
pause() { read -r -t "$1" -u $NEVER || :; }

# wait_for SECONDS COMMAND...: waits until the command succeeds, at most SECONDS
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		pause 0.02
	done
}

# The objects that the functions have. Keys are left out: the driver caches them.
objects() {
	[ -d /sys/kernel/debug/xhca ] || mount -t debugfs none /sys/kernel/debug
	grep -HE 'uars|cqs|qps|srqs|pds|xrcds|umems|uctxs' /sys/kernel/debug/xhca/[0-9]*/objects
}

# nothing_left DESCRIPTION BEFORE: the functions have the objects again that they had before
nothing_left() {
	if wait_for 10 at_rest "$2"; then pass "$1: no object is left in the adapter"
	else fail "$1: no object is left in the adapter" "$(diff <(echo "$2") <(objects))"; fi
}
at_rest() { [ "$(objects)" = "$1" ]; }

# pages_held GROUP: how many pages of the memory cgroup the kernel does not count by kind: pages
# of rings and doorbell records, and rounding of each CPU
pages_held() {
	awk '$1 == "kernel" { n += $2 }
		$1 ~ /^(slab|kernel_stack|pagetables|sec_pagetables|percpu|vmalloc)$/ { n -= $2 }
		END { print int(n / 4096) }' "$1/memory.stat"
}
none_held() { [ "$(pages_held "$1")" -lt 8 ]; }

# hw_counter DEVICE NAME
hw_counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# grown DEVICE NAME BEFORE: the counter is above that value
grown() { [ "$(hw_counter "$1" "$2")" -gt "$3" ]; }

# A server of multicast, run by stdbuf -oL, has printed that it has joined its group.
# shellcheck disable=SC2317 # called by pair
joined() { grep -qs joined "$OUT.server"; }

# True if the server that pair started is ready or has exited
# shellcheck disable=SC2317 # called by pair
ready_or_ended() { $ready || ! kill -0 "$pid" 2>/dev/null; }

# run_pair CLIENT...: runs the programs of a pair once, and sets rc, src and late.
run_pair() {
	local pid
	late=''
	: > "$log"	# otherwise READY may read the output of the previous server
	timeout -k 5 "$LIMIT" "${server[@]}" > "$log" 2>&1 < /dev/null &
	pid=$!
	wait_for "$LIMIT" ready_or_ended
	$ready || late="; the server was not ready: $ready"
	attempt "$@"
	rc=$?
	[ $rc -eq 0 ] && [ -z "${STAYS:-}" ] || { pause 0.2; kill "$pid" 2>/dev/null; }
	wait "$pid"
	src=$?
	[ -n "${STAYS:-}" ] && [ $src -eq 143 ] && src=0
}

# With -R, a server of perftest listens twice, for its parameters and then for the test. If it is
# slower than the client, the second request is refused, and the client of perftest 4.5 crashes
# when it tries again.
was_early() {
	[[ " ${server[*]} " == *" -R "* ]] && [ $rc -ne 0 ] &&
		grep -qs 'RDMA_CM_EVENT_REJECTED; error: 8' "$OUT"
}

# pair DESCRIPTION READY REGEX SERVER... -- CLIENT...
# Starts the server, waits until the command READY succeeds, and runs the client. All must
# succeed, and the output of one must match REGEX. With STAYS=1 the server does not exit by
# itself: it gets a signal when the client has finished.
pair() {
	local what=$1 ready=$2 want=$3 server=() rc src log=$OUT.server late try
	shift 3
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	for try in 1 2 3; do
		run_pair "$@"
		was_early || break
		diag <<< "$what: the client was early, try $try"
	done
	if [ $rc -eq 0 ] && [ $src -eq 0 ] && [ -z "$late" ] &&
	   { [ -z "$want" ] || grep -Eqs -- "$want" "$OUT" "$log"; }; then
		pass "$what"
	else
		fail "$what" "client status $rc, server status $src, wanted /$want/$late"
		{ echo "server: ${server[*]}"; tail -n 15 "$log"
		  echo "client: $*"; tail -n 15 "$OUT"; } | diag
	fi
}

# meanwhile COMMAND...: runs tests in the background, because they mostly wait. They share
# nothing with the tests that run at the same time: no port, no file.
MEANWHILE=()
meanwhile() {
	local part=$OUT.part${#MEANWHILE[@]}
	( OUT=$part.out TESTS=0; "$@"; echo "end $TESTS"
	  rm -f "$OUT" "$OUT".{kernel,server} ) > "$part" 2>&1 &
	MEANWHILE+=("$! $part $*")
}

# join: waits for the tests in the background and counts them. It is a failure if a part has no
# test, or stops before its end.
join() {
	local job pid part what line n end
	for job in "${MEANWHILE[@]}"; do
		read -r pid part what <<< "$job"
		n=0 end=missing
		wait "$pid" || end="status $?"
		while IFS= read -r line; do
			case $line in
			"ok "*" # SKIP "*)
				n=$((n + 1)) line=${line#* - }
				skip "${line% # SKIP *}" "${line#* # SKIP }" ;;
			"ok "*) n=$((n + 1)); pass "${line#* - }" ;;
			"not ok "*) n=$((n + 1)); fail "${line#* - }" ;;
			"end "*) end=${line#end } ;;
			*) echo "$line" ;;
			esac
		done < "$part"
		[ $n -gt 0 ] && [ "$end" = $n ] ||
			fail "in the background: $what" "$n tests, end: $end"
		rm -f "$part"
	done
	MEANWHILE=()
}

# Two devices that reach each other: the first function and the last. The environment may
# name others, for instance on a host with adapters.
# shellcheck disable=SC2034
{
DEV0=${DEV0:-mlx5_0}
DEV1=${DEV1:-mlx5_$((${VM_FUNCTIONS:-2} - 1))}
}

# gid_index DEVICE: prints the index of its RoCE v2 GID of an IPv4 address; on IB 0
gid_index() {
	local dir=/sys/class/infiniband/$1/ports/1 i type gid
	[ "${VM_LINK:-roce}" = roce ] || { echo 0; return; }
	for ((i = 0; ; i++)); do
		read -r gid 2>/dev/null < "$dir/gids/$i" || return
		[[ $gid == 0000:0000:0000:0000:0000:ffff:* ]] || continue
		read -r type 2>/dev/null < "$dir/gid_attrs/types/$i" || continue
		[ "$type" = "RoCE v2" ] && { echo $i; return; }
	done
}

# interface DEVICE: prints its network interface
interface() { cat "/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs/0"; }

# Moves the interface of DEV1 into a network namespace of its own, "peer", so that the two
# functions communicate like two hosts: $ADDR0 here, $ADDR1 there.
ADDR0=10.78.0.1 ADDR1=10.78.0.2
SIX0=fd78::1 SIX1=fd78::2	# the same, IPv6

# rdma_cm solicits a neighbour only from a link-local address that is not tentative. It appears
# after the carrier and after duplicate address detection (DAD), which programs do not wait for.
NO_DAD="echo 0 > /proc/sys/net/ipv6/conf/\$0/accept_dad"

# six_ready HERE THERE: both interfaces have such an address.
six_ready() {
	[ "$(ip -6 address show dev "$1" scope link -tentative)" ] &&
		[ "$(ip -n peer -6 address show dev "$2" scope link -tentative)" ]
}

peer_up() {
	local here there
	here=$(interface "$DEV0")
	there=$(interface "$DEV1")
	HOME_ADDR=$(ip -4 -o address show dev "$there" | awk '{ print $4; exit }')
	ip netns add peer || return
	ip link set "$there" netns peer
	ip address add $ADDR0/24 dev "$here"
	ip address add $SIX0/64 dev "$here" nodad
	ip -n peer link set lo up
	ip -n peer address add $ADDR1/24 dev "$there"
	ip -n peer address add $SIX1/64 dev "$there" nodad
	ip netns exec peer sh -c "$NO_DAD" "$there"
	ip -n peer link set "$there" up
	wait_for 10 has_gid "$DEV0" $ADDR0 && wait_for 10 has_gid "$DEV1" $ADDR1 &&
		wait_for 10 six_ready "$here" "$there"
}

# Deletes the namespace, which returns the interface, and restores its address.
peer_down() {
	local here there
	here=$(interface "$DEV0")
	there=$(interface "$DEV1")
	ip netns delete peer
	ip address delete $ADDR0/24 dev "$here"
	ip address delete $SIX0/64 dev "$here"
	wait_for 10 ip link set "$there" up 2>/dev/null
	ip address add "$HOME_ADDR" dev "$there"
	wait_for 10 has_gid "$DEV1" "${HOME_ADDR%/*}"
}

# VLAN interfaces on top of those of peer_up: $VLAN0 here, $VLAN1 there
VLAN_ID=5 VLAN0=10.79.0.1 VLAN1=10.79.0.2
vlan_up() {
	modprobe 8021q || return
	ip link add link "$(interface "$DEV0")" name vlan0 type vlan id $VLAN_ID || return
	ip -n peer link add link "$(interface "$DEV1")" name vlan1 type vlan id $VLAN_ID || return
	ip address add $VLAN0/24 dev vlan0
	ip -n peer address add $VLAN1/24 dev vlan1
	ip link set vlan0 up
	ip -n peer link set vlan1 up
	wait_for 10 has_gid "$DEV0" $VLAN0 && wait_for 10 has_gid "$DEV1" $VLAN1
}

vlan_down() { ip link delete vlan0 && ip -n peer link delete vlan1; }

# vlan_gid: prints the index of a GID of the interface vlan0
vlan_gid() {
	local f
	for f in "/sys/class/infiniband/$DEV0/ports/1/gid_attrs/ndevs/"*; do
		[ "$(cat "$f" 2>/dev/null)" = vlan0 ] && { echo "${f##*/}"; return; }
	done
}

# ipoib_of DEVICE: prints the IPoIB interface of its first port
ipoib_of() {
	local dir
	for dir in "/sys/class/infiniband/$1/device/net/"*; do
		[ "$(< "$dir/dev_port")" != 0 ] || echo "${dir##*/}"
	done
}

# The same on InfiniBand: the IPoIB interface of the last function moves into "peer".
ipoib_up() {
	modprobe ib_ipoib || return
	wait_for 10 ipoib_found || return
	ip netns add peer && ip link set "$IPOIB1" netns peer || return
	ip address add $ADDR0/24 dev "$IPOIB0"
	ip address add $SIX0/64 dev "$IPOIB0" nodad
	ip -n peer address add $ADDR1/24 dev "$IPOIB1"
	ip -n peer address add $SIX1/64 dev "$IPOIB1" nodad
	sh -c "$NO_DAD" "$IPOIB0"
	ip netns exec peer sh -c "$NO_DAD" "$IPOIB1"
	ip link set "$IPOIB0" up
	ip -n peer link set lo up
	ip -n peer link set "$IPOIB1" up
	wait_for 10 six_ready "$IPOIB0" "$IPOIB1"
}

ipoib_found() {
	IPOIB0=$(ipoib_of "$DEV0")
	IPOIB1=$(ipoib_of "$DEV1")
	[ -n "$IPOIB0" ] && [ -n "$IPOIB1" ]
}

# Both interfaces have joined the broadcast group.
ipoib_carrier() {
	[[ $(ip link show "$IPOIB0")$(ip -n peer link show "$IPOIB1") == *LOWER_UP*LOWER_UP* ]]
}

ipoib_down() { ip netns delete peer && modprobe -r ib_ipoib; }

# Two functions in two network namespaces, on either link layer
namespaces_up() { if [ "$VM_LINK" = ib ]; then ipoib_up; else peer_up; fi; }
namespaces_down() { if [ "$VM_LINK" = ib ]; then ipoib_down; else peer_down; fi; }

# True if the driver has filled its cache of memory keys, or has none
# shellcheck disable=SC2317 # called by wait_for
key_cache_is_full() {
	local limit cur
	for limit in /sys/kernel/debug/mlx5/*/mr_cache/*/limit; do
		[ -e "$limit" ] || continue
		cur=$(< "${limit%limit}cur")
		[ $((cur)) -ge $((2 * $(< "$limit"))) ] || return 1
	done
}

# Empties the driver's cache of memory keys. Without cached keys, only the command of the
# verb runs when a key is needed. Newer kernels keep keys in pools of ib_core and have no
# such files. While a command of the driver creates a key for the cache, mlx5_ib of 6.12 would wait
# for it for ever, with interrupts off (resize_available_mrs()): first it must have all.
drop_key_cache() {
	local limit
	wait_for 10 key_cache_is_full
	for limit in /sys/kernel/debug/mlx5/*/mr_cache/*/limit; do
		[ -e "$limit" ] || continue
		echo 0 > "$limit"
		echo 0 > "${limit%limit}size"
	done
}

# Unloads modules. The script dumps, which may run beside the suite, holds references to them.
rmmod() { flock "${DUMPS_LOCK:-/dev/null}" timeout -k 5 "$LIMIT" rmmod "$@"; }

# xhcactl ARGUMENT...: the installed program, or the one of this tree
xhcactl() {
	local installed
	installed=$(type -P xhcactl)
	"${installed:-../../../userlib/tools/xhcactl}" "$@"
}

# Removes the functions, which keep the module in use, and unloads it.
unload_xhca() { xhcactl del --all && rmmod xhca; }

# Unloads our modules and the driver, which would probe each new function.
unload_all() {
	! [ -e /dev/xverbs ] || rmmod xverbs || return
	unload_xhca && rmmod mlx5_ib && rmmod mlx5_core
}

# load MODULE [PARAMETER...]: loads the installed module, or the built one if none is
# installed
load() {
	local m=$1
	shift
	modprobe -q configfs
	if modinfo -n "$m" > /dev/null 2>&1; then modprobe "$m" "$@"
	else insmod "../../../build/$(uname -r)/kmod/$m/$m.ko" "$@"; fi
}

# udev_stop: stops udevd and waits until the process has exited. udevadm does not wait for that.
# An exiting udevd removes the control socket. If a new udevd already runs, this is the socket of
# the new one, and udevadm cannot stop it any more. Rarely udevd does not exit. It must not go on:
# it would rename devices that later suites create.
udev_stop() {
	udevadm control --exit || return
	wait_for 20 udev_stopped && return
	pkill -KILL -x systemd-udevd
	wait_for 10 udev_stopped
}
# shellcheck disable=SC2317 # called by wait_for
udev_stopped() { ! pgrep -x systemd-udevd > /dev/null; }

# Gives the ports the addresses again that they had after boot, and waits until programs can use
# them.
ports_up() {
	local n i=0
	for n in /sys/class/net/xnet*; do
		i=$((i + 1))
		ip link set "${n##*/}" up
		ip address add "10.77.0.$i/24" dev "${n##*/}" 2>/dev/null
	done
	udevadm settle -t 5 2>/dev/null
	wait_for 10 ports_ready
}

# use_model MODEL [FUNCTION...]: these functions of xhca, by default the two of the VM, become
# adapters of this generation (xhcactl(8)), for tests of what a ConnectX-5 lacks. Devices get their
# names again.
use_model() {
	[ $# -gt 1 ] || set -- "$1" 0 1
	local name dir
	for name in "${@:2}"; do
		dir=/sys/kernel/config/xhca/$name
		[ -e "$dir/model" ] && [ "$(< "$dir/model")" != "$1" ] || continue
		echo 0 > "$dir/enable" && echo "$1" > "$dir/model" &&
			echo 1 > "$dir/enable" || return
	done
	ports_up
}

# All devices are there, and their ports are active and have the GIDs that programs use.
ports_ready() {
	local port found=0
	for port in /sys/class/infiniband/mlx5_*/ports/*; do
		[[ $(cat "$port/state") == *ACTIVE ]] || return
		gid_index "$(basename "${port%/ports/*}")" || return
		found=$((found + 1))
	done > /dev/null 2>&1
	[ $found -ge "${VM_FUNCTIONS:-2}" ]
}

# has_gid DEVICE ADDRESS: the device has a GID of this IPv4 address
has_gid() {
	local hex
	# shellcheck disable=SC2046,SC2183 # four numbers
	hex=$(printf '%02x%02x:%02x%02x' $(tr . ' ' <<< "$2"))
	cat "/sys/class/infiniband/$1/ports/1/gids/"[0-9] 2>/dev/null | grep -q "ffff:$hex"
}

# cm_listens PORT COMMAND...: an rdma_cm program listens on the port, where commands run after these
# words. Without an address it listens on one device after the other, in any order.
cm_listens() {
	local port=$1 devices
	shift
	devices=$("$@" rdma dev | grep -c '^[0-9]*:')
	"$@" rdma resource show cm_id | awk -v port=":$port" -v devices="$devices" '
		/LISTEN/ && index($0, port) { n++; any += /src-addr (0\.0\.0\.0|::):/ }
		END { exit !(n && (!any || any >= devices)) }'
}
# shellcheck disable=SC2317 # called by pair
cm_listening() { cm_listens "$1"; }

# Debian 12: libfabric needs this library, for which an installed package would make a link.
libfabric_ready() { [ ! -d /usr/lib/libpsm1 ] || ldconfig /usr/lib/libpsm1; }

# perf_problem KIND SIZES COUNT: reads a table of xv_perf, and prints what is wrong with it. There
# must be a line for each of the SIZES, "64,128"; the numbers must be possible and fit together, and
# the number of operations must be COUNT. KIND is lat, bw, or cmp (a comparison with the CPU).
perf_problem() {
	awk -v kind="$1" -v want="$2" -v count="$3" '
	function differ(a, b, by) { return a - b > by || b - a > by }
	function check(good, what) { if (!good && !problem) problem = what ": " $0 }
	$1 !~ /^[0-9]+$/ || $2 == "lost" { next }
	kind == "lat" {
		sizes = sizes "," $1
		check(NF == 7, "columns")
		check(0 < $2 && $2 <= $3 && $3 <= $5 && $5 <= $6 && $6 <= $7, "order of times")
		check($2 <= $4 + 0.01 && $4 <= $7 + 0.01, "average")
	}
	kind == "bw" {
		sizes = sizes "," $1
		check(NF == 4, "columns")
		check($2 == count, "operations")
		# 0.00 MB/s are less than 0.005.
		check($4 > 0 && ($3 > 0 || $4 * $1 < 0.01) &&
		      !differ($3, $4 * $1, 0.01 + 0.00006 * $1), "MB/s and Mops/s")
	}
	kind == "cmp" {
		if ($NF == "adapter" || $NF == "CPU") NF--	# who calculated the last sum
		o = NF - 10
		sizes = sizes "," $(o + 1)
		check(o == 0 || o == 1, "columns")
		check($(o + 2) == count, "operations")
		check($(o + 3) > 0 && $(o + 4) > 0 &&
		      !differ($(o + 5), $(o + 3) / $(o + 4), 0.01 + 0.01 * $(o + 5)), "ratio")
		check($(o + 6) >= 0 && $(o + 7) > 0, "CPU time")
		check(!differ($(o + 9), 1e6 / $(o + 3), 1 + 0.01 * $(o + 9)), "runs in a second")
	}
	END {
		if (problem) print problem
		else if (substr(sizes, 2) != want) print "sizes " substr(sizes, 2) ", not " want
	}'
}

# Packets that the ports of both devices have received
received_packets() {
	local dev sum=0
	for dev in "$DEV0" "$DEV1"; do
		sum=$((sum + $(cat "/sys/class/infiniband/$dev/ports/1/counters/port_rcv_packets")))
	done
	echo $sum
}

# perf_table DESCRIPTION KIND SIZES COUNT COMMAND...: the command prints such a table, and the
# ports have received a packet for each operation.
perf_table() {
	local what=$1 problem before rc packets=$4
	local table=("$2" "$3" "$4")
	shift 4
	[ "${*: -1}" != bind ] || packets=0	# a bind is local
	before=$(received_packets)
	attempt "$@"
	rc=$?
	problem=$(perf_problem "${table[@]}" < "$OUT")
	[ -n "$problem" ] || [ $(($(received_packets) - before)) -ge "$packets" ] ||
		problem="less than $packets packets"
	if [ $rc -eq 0 ] && [ -z "$problem" ]; then pass "$what"
	else fail "$what" "status $rc, $problem, from: $*"; tail -n 20 "$OUT" | diag; fi
}

# perf_pair DESCRIPTION KIND SIZES COUNT SERVER... -- CLIENT...: pair, and the table of the client
perf_pair() {
	local what=$1 table=("$2" "$3" "$4")
	shift 4
	pair "$what" "listening $PORT" '' "$@"
	is "$what: its numbers" "$(perf_problem "${table[@]}" < "$OUT")" ''
}

# Words before the server and before the client of pingpong and perf, such as xv_run
RUN_SERVER=() RUN_CLIENT=()

# pingpong DESCRIPTION PROGRAM FROM TO ARGUMENT...: runs one of ibv_*_pingpong
pingpong() {
	local what=$1 prog=$2 a=$3 b=$4 gid=() gid2=()
	shift 4
	if [ "$VM_LINK" = roce ]; then
		gid=(-g "$(gid_index "$a")")
		gid2=(-g "$(gid_index "$b")")
	fi
	PORT=$((PORT + 1))
	pair "$what" "listening $PORT" 'bytes in .* seconds|^success' \
		"${RUN_SERVER[@]}" "$prog" -d "$a" "${gid[@]}" -p $PORT "$@" -- \
		"${RUN_CLIENT[@]}" "$prog" -d "$b" "${gid2[@]}" -p $PORT "$@" 127.0.0.1
}

# perf DESCRIPTION PROGRAM ARGUMENT...: runs a program of perftest from DEV1 to DEV0. The program
# measures the frequency of the CPU; if the machine is so busy that this fails, its times are "inf".
perf() {
	local what=$1 prog=$2 gid=() gid2=()
	shift 2
	if [ "$VM_LINK" = roce ]; then
		gid=(-x "$(gid_index "$DEV0")")
		gid2=(-x "$(gid_index "$DEV1")")
	fi
	PORT=$((PORT + 1))
	pair "$what" "listening $PORT" '^ *[0-9]+ +[0-9]+ +([0-9.]+|inf) +([0-9.]+|inf)' \
		"${RUN_SERVER[@]}" "$prog" -F -d "$DEV0" "${gid[@]}" -p $PORT "$@" -- \
		"${RUN_CLIENT[@]}" "$prog" -F -d "$DEV1" "${gid2[@]}" -p $PORT "$@" 127.0.0.1
}
