#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Another kernel is started by kexec while functions have traffic. It boots, has all memory, and
# the modules work in it. It is the kernel of the VM again, so it runs this suite again: the
# parameter vm.kexec tells how much memory the first one had.
. ./lib.sh

# all_memory: the memory of this kernel in KiB, together with the block that xhca has taken
memory() { awk '/^MemTotal/ { print $2 }' /proc/meminfo; }
taken() { dmesg | sed -n 's/.*xhca: took \([0-9]*\) MiB .*/\1/p' | tail -n 1; }
all_memory() { echo $(($(memory) + $(taken) * 1024)); }

# Perl calls kexec_file_load() and reboot(): the programs of kexec-tools need not be installed.
kexec() {
	perl -e '
		my $line = shift() . "\0";
		open(my $kernel, "<", shift) or die "kernel: $!";
		open(my $initramfs, "<", shift) or die "initramfs: $!";
		syscall(320, fileno($kernel), fileno($initramfs), length($line), $line, 0) == 0
			or die "kexec_file_load: $!";
		syscall(169, 0xfee1dead, 0x28121969, 0x45584543, 0);
		die "reboot: $!";
	' "$@"
}

if [[ ! $(< /proc/cmdline) =~ vm\.kexec=([0-9]+) ]]; then
	ib_write_bw -F -d "$DEV0" -x "$(gid_index "$DEV0")" -n 10000000 -p $PORT > /dev/null 2>&1 &
	wait_for 10 listening $PORT
	ib_write_bw -F -d "$DEV1" -x "$(gid_index "$DEV1")" -n 10000000 -p $PORT 127.0.0.1 \
		> /dev/null 2>&1 &
	ok "functions have traffic" wait_for 20 grown "$DEV0" rx_write_requests 0
	ok "the second kernel starts" \
		kexec "$(< /proc/cmdline) vm.kexec=$(all_memory)" "$VM_IMAGE" "$VM_INITRAMFS"
	finish
fi
before=${BASH_REMATCH[1]}
pass "the second kernel has booted"
now=$(all_memory)
ok "it has all memory: $before KiB before, $now KiB now" test "$now" -gt $((before - 16384))
ok "its log has no error of the adapter" sh -c '! dmesg --level err | grep -q xhca'
pingpong "data arrives" ibv_rc_pingpong "$DEV0" "$DEV1" -c -n 100
finish
