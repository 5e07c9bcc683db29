# SPDX-License-Identifier: GPL-2.0
"""Requests that arrive whether or not those before are done: many short ones and a few long ones."""

from collections.abc import Mapping

from ..builder import Builder, at, exponential, own_number
from ..program import Policy, Program
from .options import Builtin, Option, count, span

_PPM = 1_000_000
_CAPACITY = 10_000
_CPUS_A_CLIENT = 8  # one alone could not send enough for a thousand CPUs


def _make(values: Mapping[str, int], cpus: int) -> Program:
    short, long, long_ppm = values["short"], values["long"], values["long_ppm"]
    clients = -(-cpus // _CPUS_A_CLIENT)
    # A request each `interval` ns, all clients together, makes the CPUs busy for `load` per cent.
    mean = (short * (_PPM - long_ppm) + long * long_ppm) / _PPM
    interval = mean * 100 / (cpus * values["load"])
    build = Builder()
    for name, run, ppm in (("short", short, _PPM - long_ppm), ("long", long, long_ppm)):
        if ppm:
            _kind(build, name, run, round(interval * clients * _PPM / ppm), clients, values)
    return build.program("bimodal")


def _kind(
    build: Builder, name: str, run: int, interval: int, clients: int, values: Mapping[str, int]
) -> None:
    """Requests of one kind: of independent Poisson processes the sum is one."""
    timer, queue = f"{name}_clock", f"{name}_queue"
    build.timer(timer, clients)
    build.pipe(queue, _CAPACITY, clients)
    build.mark(name)
    sends = Policy("rt", priority=99)
    clients_of = build.group(f"{name}_clients", clients, start_ns=values["start"], policy=sends)
    with clients_of as client, client.forever():
        client.timer(at(timer, own_number()), exponential(max(interval, 1)), relative=False)
        client.send(at(queue, own_number()), stamp="due")
    with build.group(name, clients * values["workers"]) as worker, worker.forever():
        worker.receive(at(queue, own_number(divide=values["workers"])))
        worker.mark_begin(name, "sent")
        worker.run(run)
        worker.mark_end(name)
        worker.iteration()


BIMODAL = Builtin(
    "bimodal",
    "requests that arrive by themselves, 99.5 % short ones and 0.5 % long ones",
    "The dispersive loads of Shinjuku (NSDI 2019) and ghOSt (SOSP 2021): Poisson arrivals that do not "
    "wait for answers, short and long requests. Each kind has threads of its own here, so that results "
    "tell them apart. Clients, one for 8 CPUs and kind, are real-time threads, "
    "so that their times do not depend on the policy.",
    (
        Option("load", "per cent of all CPUs that requests take", 70, 1, 1_000),
        span("short", "CPU time of a short request", 5_000, 1),
        span("long", "CPU time of a long request", 500_000, 1),
        Option("long_ppm", "long requests in 1,000,000", 5_000, 0, _PPM),
        span("start", "when requests begin to arrive: it takes time to fork the workers", 0, 0),
        count("workers", "threads of each kind for each client", 64, 10_000),
    ),
    _make,
)
