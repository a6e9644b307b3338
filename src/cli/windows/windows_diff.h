/* SPDX-License-Identifier: MIT */
#ifndef CLI_WINDOWS_WINDOWS_DIFF_H
#define CLI_WINDOWS_WINDOWS_DIFF_H

/* tare windows diff A.csv B.csv; argv[0] is "diff". Returns the exit status. */
int windows_diff_run(int argc, char **argv);

#endif
