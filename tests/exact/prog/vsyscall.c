/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static refuse=\[vsyscall\]
 * time() as old static programs ask for it: the kernel executes the call itself.
 */
int main(void)
{
	return ((long (*)(long *))0xffffffffff600400)(0) == 0;
}
