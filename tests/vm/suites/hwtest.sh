#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# xv_hwtest, which compares an adapter with what its model expects: on the software adapter there is
# no difference. A model that lies is found, nothing of the host is in the file with the result, and
# a dry run does nothing. The other host is this one, reached by ssh.
. ./lib.sh
. ./ssh.sh
HW=$(cd ../../hw && pwd)
WORK=$(mktemp -d /dev/shm/hwtest.XXXXXX)
RESULT=$WORK/result

# hwtest STEPS ARGUMENT...: status and last line; "" are all steps
hwtest() {
	"$HW/xv_hwtest" ${1:+--steps "$1"} --output "$RESULT" "${@:2}" > "$OUT.hw" 2>&1 < /dev/null
	echo "$? $(tail -n 1 "$OUT.hw")"
}
# agrees DESCRIPTION STEPS ARGUMENT...: no difference, and each step has an answer
agrees() {
	is "$1" "$(hwtest "${@:2}")" "0 xv_hwtest: no difference"
	is "$1: steps" "$(grep -c '^as expected' "$OUT.hw")" \
		"$("$HW/xv_hwtest" --dry-run ${2:+--steps "$2"} "${@:3}" | grep -c ', at most [0-9]* s$')"
	tail -n 30 "$OUT.hw" | diag
}

tap "$HW/unit"

resources() { "$HW/../../build/user/bin/xv_devinfo" --resources; }
before=$(resources)
ok "a dry run" "$HW/xv_hwtest" --dry-run --probe "$DEV0" "$DEV1"
is "it names the commands" "$(grep -c "ibv_rc_pingpong -d $DEV0" "$OUT")" 4
is "it makes no object and no file" "$(resources) $(ls hwtest-* 2> /dev/null)" "$before "

SHORT=facts,rc_pingpong,write_lat,cm_rping,codes,probe.dc_key ALONE=codes
[ "$VM_LINK" = roce ] || SHORT=${SHORT/cm_rping,/}
! full || SHORT='' ALONE=send_bw,ops,codes
agrees "two functions" "$SHORT" --probe "$DEV0" "$DEV1"
agrees "one function" "$ALONE" "$DEV0"

# What identifies this host
host_words() {
	local d=/sys/class/infiniband/$DEV0
	cat $d/node_guid $d/ports/1/gids/0 "/sys/class/net/$(interface "$DEV0")/address"
	sed 's/://g; s/^/0x/' $d/node_guid
	[ "$VM_LINK" != roce ] || { interface "$DEV0"; echo "$ADDR0"; }
}
is "the file has no address and no name" "$(host_words | grep -oFf - "$RESULT" | sort -u)" ""
ok "it has the kernel and the adapter" grep -Eq '^adapter: MT4119' "$RESULT"

# A model that lies, one answer of each kind
sed -e 's/^device.max_sge 30$/device.max_sge 31/' -e 's/^code.bad_rkey 10/code.bad_rkey 9/' \
	-e '/^\[facts\]/a device.lie 1' "$HW/models/cx5.conf" > "$WORK/lies"
is "a model that lies" "$(hwtest facts,codes --model "$WORK/lies" "$DEV0" "$DEV1")" \
	"1 xv_hwtest: 3 differences"
is "which answers" "$(sed -n 's/^! \([a-z_.]*\) .*| \(.*\)$/\1 \2/p' "$RESULT")" \
	"device.max_sge 30
device.lie no answer
code.bad_rkey 10/0x88 hw 0/0x00 op 0x08/0xd2"

is "a device that is not there" "$(hwtest facts mlx5_77 | sed 's/; there are.*//')" \
	"1 xv_hwtest: there is no RDMA device mlx5_77"
is "a host that cannot be reached" "$(hwtest facts "$DEV0" localhost | cut -c1-49)" \
	"1 xv_hwtest: localhost cannot be reached by ssh: "
is "a step that is not there" "$(hwtest nosuch "$DEV0")" "1 xv_hwtest: no such step here: nosuch"

# ---- Another host

# readable END: the file that the note names can be read, and has RoCE packets.
# shellcheck disable=SC2317 # called by ok
readable() {
	local file
	file=$(sed -n "s/^note: the capture of $1 is on .*: \(.*\), [0-9]* bytes.*/\1/p" "$RESULT")
	tshark -nr "$file" -Y infiniband 2> /dev/null | grep -c . | grep -Eq '^[0-9]{2,}$'
}
# shellcheck disable=SC2317 # called by ok
ssh_up() { ssh_client 127.0.0.1 && ssh_server 127.0.0.1 "$(< "$WORK/key.pub")"; }

# ssh takes long on the emulated machine; the suite hosts has two hosts, also in the short form.
another_host() {
	local bin end far=(--ssh=-F "--ssh=$WORK/ssh_config")
	bin=$(cd ../../../build/user/bin && pwd)
	ok "sshd" ssh_up
	agrees "another host with xverbs" '' "${far[@]}" --remote-path "$bin" "$DEV0" "there:$DEV1"
	[ "$VM_LINK" = roce ] || return
	# A host that has only xhcactl: the wire is tested.
	mkdir "$WORK/tools"
	ln -s "$bin/xv_capture" "$(cd ../../../userlib/tools && pwd)/xhcactl" "$WORK/tools/"
	agrees "another host without xverbs" '' "${far[@]}" --remote-path "$WORK/tools" \
		"$DEV0" "there:$DEV1"
	for end in 'this end' 'the other end'; do
		ok "a capture of $end" grep -Eq "^note: the capture of $end .*, [0-9]{4,} bytes" \
			"$RESULT"
		ok "it has frames" readable "$end"
	done
	pkill -F "$WORK/sshd.pid"
}
if full; then another_host; else diag <<< "another host needs FULL=1"; fi
rm -rf "$WORK" /tmp/xv_hwtest.*
finish
