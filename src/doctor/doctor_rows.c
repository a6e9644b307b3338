/* SPDX-License-Identifier: MIT */
/* Hypervisors and containers: one row each. */
#include <string.h>
#include "doctor/doctor_rows.h"

#define ON_HOST(t, e)                                                                              \
	{                                                                                          \
		.text = t, .effect = e, .place = FIX_HOST                                          \
	}
#define AT_START(t, e)                                                                             \
	{                                                                                          \
		.text = t, .effect = e, .place = FIX_START                                         \
	}

#define QEMU_PMU                                                                                   \
	ON_HOST("qemu-system-$(uname -m) -enable-kvm -cpu host,pmu=on",                            \
		"a virtual PMU under "                                                             \
		"QEMU")
#define LIBVIRT_PMU                                                                                \
	ON_HOST("virsh edit GUEST: <cpu mode='host-passthrough'/> <features><pmu "                 \
		"state='on'/></features>",                                                         \
		"the same under libvirt; on x86 the host's kvm.enable_pmu must be Y")

/*
 * Signatures: Linux, arch/x86 cpu/hypervisor detection and each vendor's interface document.
 * Switches: QEMU "CPU models" (pmu), libvirt "Domain XML, Hypervisor features" (pmu), Microsoft
 * "Enable Intel Performance Monitoring Hardware in a Hyper-V virtual machine", Broadcom KB 344161
 * "Using Virtual CPU Performance Monitoring Counters", "Xen Hypervisor Command Line Options"
 * (vpmu).
 */
static const struct hypervisor hypervisors[] = {
	{ "KVMKVMKVM", NULL, "KVM", { QEMU_PMU, LIBVIRT_PMU } },
	{ "Microsoft Hv",
	  "Microsoft Corporation Virtual",
	  "Hyper-V",
	  { ON_HOST("Set-VMProcessor -VMName GUEST -Perfmon @(\"pmu\")",
		    "a virtual PMU, in PowerShell, guest off") } },
	{ "VMwareVMware",
	  "VMware",
	  "VMware",
	  { ON_HOST("vpmc.enable = \"TRUE\"", "a virtual PMU: a line of the guest's .vmx file") } },
	{ "XenVMMXenVMM",
	  "Xen",
	  "Xen",
	  { ON_HOST("vpmu=on", "a virtual PMU: a word of Xen's boot command line") } },
	{ "TCGTCGTCGTCG", NULL, "QEMU without KVM", { QEMU_PMU } },
	{ "VBoxVBoxVBox", "VirtualBox", "VirtualBox", { { .text = "" } } },
	{ "bhyve bhyve ", NULL, "bhyve", { { .text = "" } } },
	{ " lrpepyh  vr", "Parallels", "Parallels", { { .text = "" } } },
	{ "ACRNACRNACRN", NULL, "ACRN", { { .text = "" } } },
	{ NULL, "linux,dummy-virt", "QEMU", { QEMU_PMU, LIBVIRT_PMU } },
	{ NULL, "QEMU", "QEMU", { QEMU_PMU, LIBVIRT_PMU } },
	{ NULL, "KVM", "KVM", { QEMU_PMU, LIBVIRT_PMU } },
	{ NULL, "Apple Virtualization", "Apple's hypervisor", { { .text = "" } } },
	{ NULL, "Google Compute Engine", "KVM at Google", { { .text = "" } } },
};

static const struct hypervisor unknown_hypervisor = {
	NULL, NULL, "a hypervisor", { { .text = "" } }
};

const struct hypervisor *hypervisor_of(const struct host *h)
{
	for (size_t i = 0; h->cpu.signature[0] && i < ARRAY_SIZE(hypervisors); i++)
		if (hypervisors[i].signature && !strcmp(hypervisors[i].signature, h->cpu.signature))
			return &hypervisors[i];
	for (size_t i = 0; h->platform[0] && i < ARRAY_SIZE(hypervisors); i++)
		if (hypervisors[i].platform && strstr(h->platform, hypervisors[i].platform))
			return &hypervisors[i];
	return h->cpu.hypervisor ? &unknown_hypervisor : NULL;
}

/*
 * The default filters: moby pull request 43988 (Docker 23 and later allow CAP_PERFMON),
 * containers/common pull request 2534 (Podman before it requires both CAP_PERFMON and
 * CAP_SYS_ADMIN).
 */
static const struct container containers[] = {
	{ "docker",
	  { AT_START("docker run --cap-add PERFMON IMAGE",
		     "Docker 23 and later; counts kernel and CPU-wide too"),
	    AT_START("docker run --security-opt seccomp=unconfined IMAGE",
		     "any Docker version: no seccomp filter") } },
	{ "podman",
	  { AT_START("podman run --cap-add PERFMON --cap-add SYS_ADMIN IMAGE",
		     "Podman up to 5 needs both"),
	    AT_START("podman run --security-opt seccomp=unconfined IMAGE", "no seccomp filter") } },
	{ "kubernetes",
	  { AT_START("securityContext: {capabilities: {add: [PERFMON]}}",
		     "in the container's spec; containerd 1.6.9 and later"),
	    AT_START("securityContext: {seccompProfile: {type: Unconfined}}",
		     "in the container's spec: no seccomp filter") } },
	{ "systemd-nspawn",
	  { AT_START("systemd-nspawn --system-call-filter=perf_event_open --capability=CAP_PERFMON",
		     "allows it") } },
	{ NULL,
	  { AT_START("SystemCallFilter=perf_event_open",
		     "another line in the unit file, if a systemd service has a filter") } },
};

const struct container *container_of(const struct host *h)
{
	const struct container *c = containers;

	while (c->kind && strcmp(c->kind, h->container) != 0)
		c++;
	return c;
}
