# SPDX-License-Identifier: GPL-2.0
#
# Front door of the project; `make help` lists the targets. Kernel modules are
# built in build/RELEASE, a tree of links to the sources, so that builds for
# several kernels stand side by side and the source tree stays clean.

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
MODULES := xhca xverbs
TOP := $(CURDIR)
export PREFIX DESTDIR

# The running kernel if its headers are here, else Debian's 6.1 for the VM.
ifeq ($(KERNEL)$(KDIR),)
RUNNING := /lib/modules/$(shell uname -r)/build
ifneq ($(wildcard $(RUNNING)/Makefile),)
KDIR := $(RUNNING)
else
KERNEL := 6.1
endif
endif

# Only what builds modules looks for a kernel, and fetches one if it must.
ifneq ($(filter all modules modules-% check-modules-%,$(or $(MAKECMDGOALS),all)),)
ifeq ($(KDIR),)
KDIR := $(addsuffix /kdir,$(shell tests/vm/kernel $(KERNEL)))
ifeq ($(KDIR),)
$(error no kernel $(KERNEL) to build for)
endif
endif
RELEASE := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
ifeq ($(RELEASE),)
$(error $(KDIR) holds no prepared kernel tree)
endif
BUILD := $(TOP)/build/$(RELEASE)
endif

all: modules userlib

modules: $(addprefix modules-,$(MODULES))

# A module is made anew when a source, a header it shares or the kernel changed.
define module
modules-$(1): $(BUILD)/kmod/$(1)/$(1).ko

$(BUILD)/kmod/$(1)/$(1).ko: $(shell find kmod/$(1) uapi -name '*.[chS]' -o -name Kbuild) \
		$(KDIR)/Module.symvers
	@mkdir -p $(BUILD)
	+@flock $(BUILD)/.lock-$(1) tests/kbuild $(KDIR) $(BUILD) $(1) -j$(JOBS)
endef
ifneq ($(BUILD),)
$(foreach m,$(MODULES),$(eval $(call module,$(m))))
endif

userlib:
	$(MAKE) -C userlib

demo:
	tests/demo

test:
	@tests/packages run || { echo '0 passed, 1 failed, 0 skipped'; exit 1; }
	@tests/run

fuzz:
	@tests/packages build host
	@$(MAKE) -s -j3 -C tests/host fuzz

bench:
	@tests/packages build vm
	tests/bench/run

check:
	tests/check

install: userlib install-dkms
	$(MAKE) -C userlib install

# Sources where DKMS looks for them; it builds for each kernel of the host.
install-dkms: SRC = $(DESTDIR)/usr/src/xverbs-$(VERSION)
install-dkms:
	rm -rf $(SRC)
	install -d $(SRC)
	cp -r Kbuild LICENSE dkms.conf kmod uapi $(SRC)/
	@[ -n "$(DESTDIR)" ] || tests/dkms-install $(VERSION)

clean:
	rm -rf build
	@[ ! -e userlib/Makefile ] || $(MAKE) -C userlib clean
	@[ ! -e tests/host/Makefile ] || $(MAKE) -C tests/host clean

help:
	@echo 'make [all]      modules and userlib'
	@echo 'make modules    xhca.ko and xverbs.ko in build/RELEASE/kmod; for the running'
	@echo '                kernel, KERNEL=6.1|6.12|newest|debug (fetched) or KDIR=build-tree'
	@echo 'make userlib    libxverbs, tools and examples'
	@echo 'make demo       build, boot a VM, copy files between two functions'
	@echo 'make test       all test layers, short form; FULL=1 runs everything'
	@echo 'make fuzz       the fuzzers alone, each for TIME=60 seconds, with coverage'
	@echo 'make bench      xhca against rdma_rxe, libxverbs against libibverbs'
	@echo 'make check      W=1, sparse, checkpatch, shellcheck, cppcheck, uAPI layout'
	@echo 'make install    libxverbs and tools (PREFIX, DESTDIR), modules by DKMS'
	@echo 'make clean      remove what make has built here (kernels stay in the cache)'

.PHONY: all modules userlib demo test fuzz bench check install install-dkms clean help
.PHONY: $(addprefix modules-,$(MODULES))
