/* SPDX-License-Identifier: MIT */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

/* Print the version and the features to standard output; returns the exit status. */
int print_version(void);

#endif
