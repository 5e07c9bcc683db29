// SPDX-License-Identifier: GPL-2.0
/*
 * The class's deadline server: SaaKM threads that higher classes keep from
 * running get a share of each CPU, as fair threads do from fair's server. A CPU
 * holds the bandwidth while it is online and a policy is loaded.
 */

/* Changed under saakm_mutex. */
unsigned int saakm_server_runtime_us = 50 * USEC_PER_MSEC;
unsigned int saakm_server_period_us = 1000 * USEC_PER_MSEC;

struct task_struct *saakm_server_pick(struct sched_dl_entity *dl_se)
{
	return saakm_pick_task(dl_se->rq);
}

int saakm_server_apply(struct rq *rq, unsigned int runtime_us, unsigned int period_us)
{
	struct sched_dl_entity *dl_se = &rq->saakm.server;
	u64 runtime = (u64)runtime_us * NSEC_PER_USEC;
	u64 period = (u64)period_us * NSEC_PER_USEC;
	int ret;

	guard(rq_lock_irqsave)(rq);
	update_rq_clock(rq);

	/* The first start sets the entity up, with default parameters. */
	if (!dl_se->dl_server)
		dl_server_start(dl_se);
	if (dl_server_active(dl_se))
		dl_server_stop(dl_se);
	ret = dl_server_apply_params(dl_se, runtime, period, 0);
	if (!ret && rq->saakm.nr_running)
		saakm_server_start(rq);
	return ret;
}

/* All online CPUs or none. Called with cpus_read_lock() held. */
int saakm_server_apply_all(unsigned int runtime_us, unsigned int period_us)
{
	int cpu, ret = 0;

	for_each_online_cpu(cpu) {
		ret = saakm_server_apply(cpu_rq(cpu), runtime_us, period_us);
		if (ret)
			break;
	}
	if (ret) {
		for_each_online_cpu(cpu)
			saakm_server_apply(cpu_rq(cpu), 0, period_us);
	}
	return ret;
}

/* The CPU has got another root domain. */
void saakm_server_attach_root(struct rq *rq)
{
	if (rq->saakm.server.dl_server)
		__dl_server_attach_root(&rq->saakm.server, rq);
}

/* Bandwidth of the servers of @cpus, for an account that is made anew. */
u64 saakm_server_bw(const struct cpumask *cpus)
{
	u64 bw = 0;
	int cpu;

	for_each_cpu(cpu, cpus) {
		if (cpu_active(cpu) && cpu_rq(cpu)->saakm.server.dl_server)
			bw += cpu_rq(cpu)->saakm.server.dl_bw;
	}
	return bw;
}

/* Time that the CPU idled was there for the taking: see dl_server_update_idle_time(). */
void saakm_server_idle_time(struct rq *rq, s64 delta_ns)
{
	struct sched_dl_entity *dl_se = &rq->saakm.server;

	if (!dl_server_active(dl_se) || dl_se->runtime < 0 || delta_ns <= 0)
		return;
	dl_se->runtime -= delta_ns;
	if (dl_se->runtime < 0) {
		dl_se->dl_defer_running = 0;
		dl_se->runtime = 0;
	}
}
