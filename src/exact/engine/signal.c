/* SPDX-License-Identifier: MIT */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/signal.h>
#include "exact/engine/engine.h"
uint64_t block_signals(void){ uint64_t all=~0ull, old=0; sys(__NR_rt_sigprocmask,SIG_SETMASK,&all,&old,8); return old; }
void set_signal_mask(uint64_t m){ sys(__NR_rt_sigprocmask,SIG_SETMASK,&m,0,8); }
void signals_first(struct thread*t){(void)t;}
void set_alt_stack(struct thread*t){(void)t;}
void signals_for_exec(struct thread*t){(void)t;}
void signals_after_exec(struct thread*t){(void)t;}
void deliver_pending(struct thread*t){(void)t;}
long signal_action(struct thread*t,long s,uint64_t a,uint64_t o,uint64_t n){(void)t; return sys(__NR_rt_sigaction,s,a,o,n);}
long signal_mask(struct thread*t,long h,uint64_t s,uint64_t o,uint64_t n){(void)t; return sys(__NR_rt_sigprocmask,h,s,o,n);}
long signal_stack(struct thread*t,uint64_t s,uint64_t o){(void)t; return sys(__NR_sigaltstack,s,o);}
void signal_return(struct thread*t){(void)t; refuse("sigreturn",0);}
void step_natively(struct thread*t){ refuse("cannot run",t->target);}
