// SPDX-License-Identifier: GPL-2.0
/* The line of JSON at the end of a run. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "result.h"

#define FORM		1
#define MAX_WARNINGS	100

static char *warnings[MAX_WARNINGS];
static unsigned int nr_warnings;
static struct sim_output *out;

void sim_warning(const char *text)
{
	unsigned int i;

	for (i = 0; i < nr_warnings; i++)
		if (!strcmp(warnings[i], text))
			return;
	if (nr_warnings == MAX_WARNINGS)
		return;
	warnings[nr_warnings] = strdup(text);
	if (!warnings[nr_warnings++])
		sim_out_of_memory();
}

/* ---- JSON ---- */

__attribute__((format(printf, 1, 2)))
static void put(const char *fmt, ...)
{
	char text[512];
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	sim_output_write(out, text, (unsigned long)length);
}

/* What is no ASCII becomes a question mark: nobody says in which encoding it is. */
static void put_string(const char *text)
{
	put("\"");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			put("\\%c", c);
		else if (c < ' ')
			put("\\u%04x", c);
		else
			put("%c", c < 0x7f ? c : '?');
	}
	put("\"");
}

static void put_distribution(const struct sim_histogram *times)
{
	put("{\"count\": %llu, \"sum_ns\": %llu, \"min_ns\": %llu, \"max_ns\": %llu, ",
	    times->count, times->sum, times->least, times->most);
	put("\"p50_ns\": %llu, \"p90_ns\": %llu, \"p99_ns\": %llu, \"p999_ns\": %llu}",
	    sim_histogram_quantile(times, 500000), sim_histogram_quantile(times, 900000),
	    sim_histogram_quantile(times, 990000), sim_histogram_quantile(times, 999000));
}

static void put_policy(const struct sim_result_policy *policy)
{
	put("{\"name\": ");
	put_string(policy->name);
	put(", \"id\": %u, \"threads\": %u, \"ejected\": ", policy->id, policy->threads);
	if (policy->ejected) {
		put("{\"kind\": ");
		put_string(policy->ejected);
		put(", \"reason\": ");
		put_string(policy->reason);
		put(", \"at_ns\": %llu}}", policy->at_ns);
	} else {
		put("null}");
	}
}

static void put_group(const struct sim_result_group *group)
{
	unsigned int i;

	put("{\"name\": ");
	put_string(group->name);
	put(", \"policy\": ");
	put_string(group->policy);
	put(", \"threads\": %llu, \"run_ns\": %llu, \"switches\": %llu, \"preemptions\": %llu, ",
	    group->threads, group->run_ns, group->switches, group->preemptions);
	put("\"migrations\": %llu, \"iterations\": %llu, \"waits\": ", group->migrations,
	    group->iterations);
	put_distribution(group->waits);
	put(", \"marks\": {");
	for (i = 0; i < group->nr_marks; i++) {
		put("%s", i ? ", " : "");
		put_string(group->marks[i].name);
		put(": ");
		put_distribution(group->marks[i].times);
	}
	put("}}");
}

static void put_agent(const struct sim_result_agent *agent)
{
	put("{\"cpus\": ");
	put_string(agent->cpus);
	put(", \"starts\": %u, \"rounds\": %llu, \"events\": %llu, \"decisions\": %llu, ",
	    agent->starts, agent->rounds, agent->events, agent->decisions);
	put("\"run_ns\": %llu, \"switches\": %llu}", agent->run_ns, agent->switches);
}

static void put_totals(const struct sim_result *result)
{
	const sim_u64 *migrations = result->migrations;

	put("{\"form\": %d, \"seed\": %llu, \"cpus\": %u, \"end_ns\": %llu, \"interrupted\": %s, ",
	    FORM, sim_options.seed, sim_options.cpus, result->end_ns,
	    sim_interrupted ? "true" : "false");
	put("\"events\": %llu, \"switches\": %llu, \"wakeups\": %llu, \"ticks\": %llu, "
	    "\"forks\": %llu, ", result->events, result->switches, result->wakeups, result->ticks,
	    result->forks);
	put("\"migrations\": {\"smt\": %llu, \"llc\": %llu, \"node\": %llu, \"far\": %llu}, ",
	    migrations[0], migrations[1], migrations[2], migrations[3]);
	put("\"idle_ns\": %llu, \"cost_ns\": %llu, \"hash\": \"%016llx\", ", result->idle_ns,
	    result->cost_ns, result->hash);
}

void sim_result_print(const struct sim_result *result)
{
	unsigned int i;

	out = sim_output_open("-");
	put_totals(result);
	put("\"policies\": [");
	for (i = 0; i < result->nr_policies; i++) {
		put("%s", i ? ", " : "");
		put_policy(&result->policies[i]);
	}
	put("], \"groups\": [");
	for (i = 0; i < result->nr_groups; i++) {
		put("%s", i ? ", " : "");
		put_group(&result->groups[i]);
	}
	put("], \"agents\": [");
	for (i = 0; i < result->nr_agents; i++) {
		put("%s", i ? ", " : "");
		put_agent(&result->agents[i]);
	}
	put("], \"warnings\": [");
	for (i = 0; i < nr_warnings; i++) {
		put("%s", i ? ", " : "");
		put_string(warnings[i]);
	}
	put("]}\n");
	sim_output_close(out);
}
