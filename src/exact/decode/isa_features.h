/* SPDX-License-Identifier: MIT */
/*
 * Extensions of x86-64 that have instructions of their own, and the CPUID bit of each. Source:
 * Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E; levels: x86-64 psABI, "Micro-Architecture
 * Levels".
 */
#ifndef EXACT_DECODE_ISA_FEATURES_H
#define EXACT_DECODE_ISA_FEATURES_H

enum isa_register { ISA_EAX, ISA_EBX, ISA_ECX, ISA_EDX };

/*
 * F(identifier, name as in /proc/cpuinfo, leaf, subleaf, register, bit, level): the lowest x86-64
 * level that has it; 5: none has.
 */
#define ISA_FEATURES(F)                                                                            \
	F(SSE3, "sse3", 1, 0, ECX, 0, 2)                                                           \
	F(SSSE3, "ssse3", 1, 0, ECX, 9, 2)                                                         \
	F(CX16, "cx16", 1, 0, ECX, 13, 2)                                                          \
	F(SSE4_1, "sse4_1", 1, 0, ECX, 19, 2)                                                      \
	F(SSE4_2, "sse4_2", 1, 0, ECX, 20, 2)                                                      \
	F(POPCNT, "popcnt", 1, 0, ECX, 23, 2)                                                      \
	F(LAHF, "lahf_lm", 0x80000001, 0, ECX, 0, 2)                                               \
	F(FMA, "fma", 1, 0, ECX, 12, 3)                                                            \
	F(MOVBE, "movbe", 1, 0, ECX, 22, 3)                                                        \
	F(XSAVE, "xsave", 1, 0, ECX, 26, 3)                                                        \
	F(AVX, "avx", 1, 0, ECX, 28, 3)                                                            \
	F(F16C, "f16c", 1, 0, ECX, 29, 3)                                                          \
	F(BMI1, "bmi1", 7, 0, EBX, 3, 3)                                                           \
	F(AVX2, "avx2", 7, 0, EBX, 5, 3)                                                           \
	F(BMI2, "bmi2", 7, 0, EBX, 8, 3)                                                           \
	F(LZCNT, "abm", 0x80000001, 0, ECX, 5, 3)                                                  \
	F(AVX512F, "avx512f", 7, 0, EBX, 16, 4)                                                    \
	F(AVX512DQ, "avx512dq", 7, 0, EBX, 17, 4)                                                  \
	F(AVX512CD, "avx512cd", 7, 0, EBX, 28, 4)                                                  \
	F(AVX512BW, "avx512bw", 7, 0, EBX, 30, 4)                                                  \
	F(AVX512VL, "avx512vl", 7, 0, EBX, 31, 4)                                                  \
	F(PCLMUL, "pclmulqdq", 1, 0, ECX, 1, 5)                                                    \
	F(AES, "aes", 1, 0, ECX, 25, 5)                                                            \
	F(RDRAND, "rdrand", 1, 0, ECX, 30, 5)                                                      \
	F(FSGSBASE, "fsgsbase", 7, 0, EBX, 0, 5)                                                   \
	F(RTM, "rtm", 7, 0, EBX, 11, 5)                                                            \
	F(RDSEED, "rdseed", 7, 0, EBX, 18, 5)                                                      \
	F(ADX, "adx", 7, 0, EBX, 19, 5)                                                            \
	F(AVX512IFMA, "avx512ifma", 7, 0, EBX, 21, 5)                                              \
	F(CLFLUSHOPT, "clflushopt", 7, 0, EBX, 23, 5)                                              \
	F(CLWB, "clwb", 7, 0, EBX, 24, 5)                                                          \
	F(AVX512PF, "avx512pf", 7, 0, EBX, 26, 5)                                                  \
	F(AVX512ER, "avx512er", 7, 0, EBX, 27, 5)                                                  \
	F(SHA, "sha_ni", 7, 0, EBX, 29, 5)                                                         \
	F(AVX512VBMI, "avx512vbmi", 7, 0, ECX, 1, 5)                                               \
	F(PKU, "ospke", 7, 0, ECX, 4, 5)                                                           \
	F(WAITPKG, "waitpkg", 7, 0, ECX, 5, 5)                                                     \
	F(AVX512VBMI2, "avx512_vbmi2", 7, 0, ECX, 6, 5)                                            \
	F(GFNI, "gfni", 7, 0, ECX, 8, 5)                                                           \
	F(VAES, "vaes", 7, 0, ECX, 9, 5)                                                           \
	F(VPCLMUL, "vpclmulqdq", 7, 0, ECX, 10, 5)                                                 \
	F(AVX512VNNI, "avx512_vnni", 7, 0, ECX, 11, 5)                                             \
	F(AVX512BITALG, "avx512_bitalg", 7, 0, ECX, 12, 5)                                         \
	F(AVX512VPOPCNT, "avx512_vpopcntdq", 7, 0, ECX, 14, 5)                                     \
	F(RDPID, "rdpid", 7, 0, ECX, 22, 5)                                                        \
	F(KL, "key_locker", 7, 0, ECX, 23, 5)                                                      \
	F(MOVDIRI, "movdiri", 7, 0, ECX, 27, 5)                                                    \
	F(ENQCMD, "enqcmd", 7, 0, ECX, 29, 5)                                                      \
	F(UINTR, "uintr", 7, 0, EDX, 5, 5)                                                         \
	F(AVX512VP2, "avx512_vp2intersect", 7, 0, EDX, 8, 5)                                       \
	F(SERIALIZE, "serialize", 7, 0, EDX, 14, 5)                                                \
	F(TSXLDTRK, "tsxldtrk", 7, 0, EDX, 16, 5)                                                  \
	F(AMX_BF16, "amx_bf16", 7, 0, EDX, 22, 5)                                                  \
	F(AVX512FP16, "avx512_fp16", 7, 0, EDX, 23, 5)                                             \
	F(AMX_TILE, "amx_tile", 7, 0, EDX, 24, 5)                                                  \
	F(AMX_INT8, "amx_int8", 7, 0, EDX, 25, 5)                                                  \
	F(AVX_VNNI, "avx_vnni", 7, 1, EAX, 4, 5)                                                   \
	F(AVX512BF16, "avx512_bf16", 7, 1, EAX, 5, 5)                                              \
	F(XSAVEOPT, "xsaveopt", 0xd, 1, EAX, 0, 5)                                                 \
	F(XSAVEC, "xsavec", 0xd, 1, EAX, 1, 5)                                                     \
	F(SSE4A, "sse4a", 0x80000001, 0, ECX, 6, 5)                                                \
	F(XOP, "xop", 0x80000001, 0, ECX, 11, 5)                                                   \
	F(LWP, "lwp", 0x80000001, 0, ECX, 15, 5)                                                   \
	F(FMA4, "fma4", 0x80000001, 0, ECX, 16, 5)                                                 \
	F(TBM, "tbm", 0x80000001, 0, ECX, 21, 5)                                                   \
	F(MWAITX, "mwaitx", 0x80000001, 0, ECX, 29, 5)                                             \
	F(AMD3DNOW, "3dnow", 0x80000001, 0, EDX, 31, 5)                                            \
	F(CLZERO, "clzero", 0x80000008, 0, EBX, 0, 5)                                              \
	F(RDPRU, "rdpru", 0x80000008, 0, EBX, 4, 5)                                                \
	F(MCOMMIT, "mcommit", 0x80000008, 0, EBX, 8, 5)

/* 0: every x86-64 processor has it. */
#define ISA_IDENTIFIER(id, ...) ISA_##id,
enum isa_feature { ISA_ALWAYS, ISA_FEATURES(ISA_IDENTIFIER) ISA_FEATURES_N };
#undef ISA_IDENTIFIER

#endif
