/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * xv_rsh: a remote shell whose data goes by RDMA.
 *
 * The near end starts ssh, and ssh starts the far end.  Between them are the pipe of ssh, the
 * channel (channel.h), and an RDMA connection (wire.h) for standard input and output of the
 * command.  Each end has four threads: the main thread (session.c), one that reads a pipe
 * (reader.c), one that writes a pipe (writer.c), and one that posts and polls (pump.c).
 */
#ifndef XV_RSH_RSH_H
#define XV_RSH_RSH_H

#include "path.h"
#include "session.h"

enum { RSH_ERROR = 255 };	/* exit status after an error of ours, as that of ssh */

struct options {
	const char *host;
	const char *user;		/* of USER@HOST, or null */
	char *command;			/* words joined by spaces */
	char *ssh[128];			/* options for ssh */
	int n_ssh;
	const char *via;
	const char *remote_path;
	const char *device;
	int gid_index;
	struct settings far;		/* what the far end is told */
	bool fallback;
	bool verbose;
	bool progress;
	bool json;
};

/* What a near end has to report at its end */
struct report {
	const struct options *opt;
	const struct session *session;
	const struct offer *near, *far;
	double start;
	uint32_t over;
	int status;
};

/* start.c: starts ssh, or the far end itself */
pid_t start_far(const struct options *opt, int *channel);
void exec_ssh_query(const struct options *opt) __attribute__((noreturn));	/* ssh -G */

int near_main(struct options *opt);
int far_main(void);

/* report.c: all to standard error */
void report_path(const struct report *r);
void report_start(struct report *r);	/* the session runs */
void report_end(struct report *r);

#endif
