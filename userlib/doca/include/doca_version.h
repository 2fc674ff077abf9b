/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The version of the DOCA SDK with which these libraries are compatible; pkg-config tells their
 * own.  Compatible with the header of the same name of the DOCA SDK.
 */
#ifndef XVDOCA_VERSION_H
#define XVDOCA_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define DOCA_VERSION_MAJOR	3
#define DOCA_VERSION_MINOR	2
#define DOCA_VERSION_PATCH	0
#define DOCA_VERSION_STRING	"3.2.0"

/* Each compares a version with that of this header. */
#define XVD_VERSION_NUMBER(major, minor, patch)	\
	(((major) << 24) + ((minor) << 16) + (patch))
#define XVD_VERSION_CURRENT	\
	XVD_VERSION_NUMBER(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch)	\
	(XVD_VERSION_NUMBER(major, minor, patch) == XVD_VERSION_CURRENT)
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch)	\
	(XVD_VERSION_NUMBER(major, minor, patch) <= XVD_VERSION_CURRENT)

/* The version of this header, and that of the library with which the program runs; static */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif
