/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes the blocks of a pcapng file (IETF draft-ietf-opsawg-pcapng), with one Ethernet interface.
 * All functions return false, with errno, if the file cannot be written.
 */
#ifndef XV_CAPTURE_PCAPNG_H
#define XV_CAPTURE_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum pcapng_direction { PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 };

/* @snaplen: at most so many bytes of a frame are in the file. */
bool pcapng_begin(FILE *out, const char *program, const char *interface, uint32_t snaplen);
/* @ns: time since 1970.  @kept: bytes at @frame; @length: of the whole frame */
bool pcapng_frame(FILE *out, uint64_t ns, enum pcapng_direction direction, const void *frame,
		  uint32_t kept, uint32_t length);
/* Frames that passed the filter until now, and how many of them were dropped */
bool pcapng_statistics(FILE *out, uint64_t ns, uint64_t received, uint64_t dropped);

#endif
