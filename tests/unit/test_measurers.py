# SPDX-License-Identifier: GPL-2.0
"""Our own programs of workloads, on the host: what they count, and what they refuse."""

import contextlib
import math
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.builder.programs import compile_static
from saakm.lab.bench.metric import rows_of
from saakm.model.workload import load_all

DATA = Path(__file__).parent / "data"
SCHBENCH, LOADFILE, BIMODAL, FRAMES = (
    paths.GUEST_FILES / name for name in ("schbench", "loadfile", "bimodal", "frames")
)
SHORT = ("--runtime", "1", "--interval", "100", "--footprint", "1", "--sleep", "50")
# Each pass writes and reads a file of its client's; nothing is deleted.
LOAD = r"""
# A comment, and an empty line.

Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX "\clients\client1\a file" 0x40 0x5 16385 NT_STATUS_OK
WriteX 16385 0 5000 5000 NT_STATUS_OK
ReadX 16385 4096 4096 904 NT_STATUS_OK
LockX 16385 2147483538 1 NT_STATUS_OK
UnlockX 16385 2147483538 1 NT_STATUS_OK
Flush 16385 NT_STATUS_OK
QUERY_FILE_INFORMATION 16385 258 NT_STATUS_OK
SET_FILE_INFORMATION 16385 1004 NT_STATUS_OK
QUERY_FS_INFORMATION 259 NT_STATUS_OK
FIND_FIRST "\clients\client1\*" 260 1366 5 NT_STATUS_OK
Rename "\clients\client1\a file" "\clients\client1\b" NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\a file" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX "\clients\client1\c" 0x40 0x5 2 NT_STATUS_OK
Unlink "\clients\client1\c" 0x6 NT_STATUS_OK
"""


def run(program, *arguments):
    command = [compile_static(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def compiled(tmp_path, test, source):
    program = tmp_path / "program"
    command = ["gcc", "-O1", "-Wall", "-Werror", f"-I{source.parent}", "-o", program]
    subprocess.run([*command, DATA / test, source, "-lm"], check=True)
    return program


def figures(text):
    """NAME: VALUE"""
    return {name: float(value) for name, value in re.findall(r"^([\w.-]+): ([\d.]+) ", text, re.M)}


def variant(workload, family):
    return next(v for v in load_all()[workload].variants if v.family == family)


# --- schbench ---


def test_schbench_counts_and_orders():
    done = run(SCHBENCH, *SHORT, "--messengers", 2, "--workers", 3)
    assert done.returncode == 0, done.stderr
    assert "Threads: 2 messengers, 3 workers of each\n" in done.stdout
    counts = re.search(r"^Samples: (\d+) wakeups, (\d+) requests, (\d+) rates$", done.stdout, re.M)
    wakeups, requests, rates = map(int, counts.groups())
    # A worker that had begun before the measurement may have one more of the one or the other.
    assert abs(wakeups - requests) <= 2 * 3 and rates == 10
    found = figures(done.stdout)
    for name, percents in (
        ("Wakeup", ("50th", "90th", "99th", "99.9th", "max")),
        ("Request", ("50th", "90th", "99th", "99.9th", "max")),
        ("RPS", ("20th", "50th", "90th", "max")),
    ):
        row = [found[f"{name}-{percent}"] for percent in percents]
        assert row == sorted(row) and row[-1] > 0
    assert found["Request-50th"] >= 50  # it sleeps first


def test_schbench_warms_up_and_works_without_locks():
    done = run(SCHBENCH, *SHORT, "--warmup", 1, "--locks", 0, "--operations", 0, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert int(re.search(r"(\d+) rates", done.stdout)[1]) == 10


def test_schbench_has_a_worker_for_each_cpu():
    cpus = os.sysconf("SC_NPROCESSORS_ONLN")  # nproc counts those alone that we may use
    done = run(SCHBENCH, *SHORT)
    assert f"1 messengers, {cpus} workers of each" in done.stdout


def test_every_row_of_the_workload_is_found():
    one = variant("schbench", "default")
    done = run(SCHBENCH, *SHORT, "--workers", 2)
    # A busy host has it do nothing for a tenth of a second, and a rate of nothing is refused.
    said = re.sub(r"(RPS-\w+): 0\.00", r"\1: 1.00", done.stdout)
    rows = rows_of(one, said, counts=False)
    assert [row.label for row in rows] == [
        f"{name}-{one.point}"
        for name in (
            *(f"{what}-{percent}th" for what in ("Wakeup", "Request") for percent in (50, 90, 99, 99.9)),
            *("RPS-20th", "RPS-50th", "RPS-90th", "RPS-max"),
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--workers", "x"), "--workers x: it takes a whole number from 1 to 100000"),
        (("--workers", "0"), "from 1 to"),
        (("--runtime", "1s"), "--runtime 1s"),
        (("--locks", "2"), "from 0 to 1"),
        (("fast",), "'fast' is no option"),
        (("--fast",), "usage"),
    ],
)
def test_schbench_refuses(arguments, why):
    done = run(SCHBENCH, *arguments)
    assert done.returncode == 2 and why in done.stderr and not done.stdout


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--long-ppm", "1000001"), "bimodal: --long-ppm 1000001: it takes a whole number from 0"),
        (("-t", ""), "--workers : it takes a whole number from 1 to 10000"),
        (("--memcached",), "usage: bimodal"),
        (("slow",), "bimodal: 'slow' is no option"),
    ],
)
def test_bimodal_refuses(arguments, why):
    done = run(BIMODAL, *arguments)
    assert done.returncode == 2 and why in done.stderr and not done.stdout


def test_help_has_each_option_with_its_value():
    """A text has none."""
    done = run(BIMODAL, "--seed", 5, "-h")
    assert done.returncode == 0 and not done.stderr
    assert "-S, --seed        other arrivals, and long ones (5)\n" in done.stdout
    assert re.search("-m, --memcached   the Unix socket .* our own\n", done.stdout)


def test_percentiles_are_right_to_a_slot(tmp_path):
    program = compiled(tmp_path, "histogram_of.c", SCHBENCH / "histogram.c")
    generator = random.Random(1)
    values = sorted(int(10 ** generator.uniform(0, 12)) for _ in range(5001))
    percents = (0.01, 1, 20, 50, 90, 99, 99.9, 100)
    said = subprocess.run(
        [program, *map(str, percents)],
        input="\n".join(map(str, values)),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    for percent, text in zip(percents, said, strict=True):
        exact = values[math.ceil(len(values) * percent / 100) - 1]
        assert abs(float(text) - exact) <= exact / 256, percent


# --- frames ---


def test_late_frames_of_known_ones(tmp_path):
    program = compiled(tmp_path, "frames_of.c", FRAMES / "report.c")
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        "Frames: 100, of which 50 late",
        "Late: 50.00 %",
        "Late-99th: 9.800 ms",
        "Late-max: 10.000 ms",
        "Frame-50th: 10.000 ms",
        "Frame-99th: 19.800 ms",
    ]
    rows = rows_of(variant("frames", "build"), said + "Compiled: 7 files\n", counts=True)
    assert [row.value for row in rows] == [50, 9.8, 10, 10, 19.8, 7]


def test_a_frame_passes_through_all_three_threads():
    """Whichever of them has more to do than a period has time for makes all frames late."""
    for stage in ("--logic", "--render", "--present"):
        idle = {name: 0 for name in ("--logic", "--render", "--present")} | {stage: 200000}
        options = [word for option in idle.items() for word in option]
        done = run(FRAMES, "--frames", 4, "--warmup", 1, "--period", 100, *options)
        assert done.returncode == 0 and "Frames: 4, of which 4 late\n" in done.stdout, done


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--frames", "0"), "frames: --frames 0: it takes a whole number from 1"),
        (("--period", "16.7"), "--period 16.7: it takes a whole number"),
        (("60",), "frames: '60' is no option"),
    ],
)
def test_frames_refuses(arguments, why):
    done = run(FRAMES, *arguments)
    assert done.returncode == 2 and why in done.stderr and not done.stdout


# --- loadfiles ---


def loadfile(tmp_path, text, *options):
    file = tmp_path / "load.txt"
    file.write_text(text)
    directory = tmp_path / "files"
    directory.mkdir(exist_ok=True)
    return run(LOADFILE, "--directory", directory, "--runtime", 1, *options, file)


def test_each_client_plays_the_file_in_a_directory_of_its_own(tmp_path):
    done = loadfile(tmp_path, LOAD, "--clients", 3)
    assert done.returncode == 0, done.stderr
    clients = tmp_path / "files" / "clients"
    assert sorted(path.name for path in clients.iterdir()) == ["client1", "client2", "client3"]
    # One that was in the middle may still call it as at the begin.
    assert all(
        {f.stat().st_size for f in client.iterdir()} & {5000} for client in clients.iterdir()
    )
    of_one, of_all = rows_of(variant("dbench", "loadfile-tmpfs"), done.stdout, counts=False)
    # Until all have ended a pass takes no less than the shortest of them.
    assert of_one.value > 0 and of_one.stddev is not None and of_all.value > 0
    passes, rounds = map(int, re.findall(r"(\d+) (?:passes|times)", done.stdout))
    assert passes >= 3 * rounds


def test_it_goes_on_until_there_is_something_to_report(tmp_path):
    """Though a client stands still for all of the runtime."""
    options = ("--clients", 2, "--warmup", 1, "--runtime", 2)
    with loadfile_beside(compile_static(LOADFILE), tmp_path, *options) as child:
        client = clients_of(child, 2)[0]
        os.kill(client, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(client, signal.SIGCONT)
        assert child.stdout.readline().startswith("Loadfile: ")
        assert child.wait() == 0


def test_what_a_client_has_left_is_removed_where_the_file_says_so(tmp_path):
    done = loadfile(tmp_path, 'Deltree "\\clients\\client1" NT_STATUS_OK\n' + LOAD, "--clients", 2)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "files" / "clients").iterdir()) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Chmod 3 NT_STATUS_OK", "'Chmod' is not played"),
        ("Close NT_STATUS_OK", "Close takes 1 arguments and a status, and has 1 words after it"),
        ("Close 1 OK", "'OK' is no status"),
        ("Close 65536 NT_STATUS_OK", "'65536' is no number from 0 to 65535"),
        ("WriteX 1 0 99999999 1 NT_STATUS_OK", "'99999999' is no number"),
        ('Mkdir "\\a NT_STATUS_OK', "a quotation mark has no second one"),
        ('Mkdir "\\..\\a" NT_STATUS_OK', "is no path below the directory"),
        ('Deltree "." NT_STATUS_OK', "'.' is no path below the directory"),
        ('Deltree "\\.\\" NT_STATUS_OK', "is no path below the directory"),
        ("Close 1 2 3 4 5 6 7 8 NT_STATUS_OK", "more words than any operation"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_line(tmp_path, line, why):
    done = loadfile(tmp_path, f'Mkdir "\\a" NT_STATUS_OK\n{line}\n')
    assert done.returncode == 2 and "load.txt, line 2: " in done.stderr and why in done.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--clients", "0"), "--clients 0: it takes a whole number from 1"),
        (("--warmup", "1"), "--warmup 1 leaves nothing of --runtime 1"),
        (("--directory", "/nonexistent"), "--directory /nonexistent: No such file"),
        (("/dev/null",), "one loadfile is needed"),
    ],
)
def test_bad_options_of_loadfile(tmp_path, options, why):
    done = loadfile(tmp_path, LOAD, *options)
    assert done.returncode == 2 and why in done.stderr


def test_an_empty_loadfile(tmp_path):
    done = loadfile(tmp_path, "# nothing\n")
    assert done.returncode == 2 and "has no operation" in done.stderr


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('Unlink "\\nothing" 0x6 NT_STATUS_OK', "line 1: Unlink nothing: No such file"),
        ("ReadX 7 0 1 1 NT_STATUS_OK", "line 1: ReadX : Bad file descriptor"),
        ('Mkdir "\\a" NT_STATUS_ACCESS_DENIED', "line 1: Mkdir a: it should have failed"),
    ],
)
def test_what_ends_otherwise_than_on_the_server_ends_the_run(tmp_path, line, why):
    done = loadfile(tmp_path, line + "\n", "--clients", 2)
    assert done.returncode == 1 and why in done.stderr and not done.stdout


@contextlib.contextmanager
def loadfile_beside(program, tmp_path, *options):
    (tmp_path / "load.txt").write_text(LOAD)
    command = [program, "--directory", tmp_path, *map(str, options), tmp_path / "load.txt"]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def clients_of(child, count):
    """Their processes, as soon as all are there."""
    children = Path(f"/proc/{child.pid}/task/{child.pid}/children")
    while len(clients := children.read_text().split()) < count:
        time.sleep(0.01)
    return [int(client) for client in clients]


def test_no_client_stays_if_its_parent_is_killed_before_it_is_told_of_that(tmp_path):
    program = tmp_path / "program"
    sources = [DATA / "late_prctl.c", *sorted(LOADFILE.glob("*.c"))]
    command = ["gcc", "-O1", "-Wl,--wrap=prctl", "-o", program, *sources, "-lm"]
    subprocess.run(command, check=True)
    with loadfile_beside(program, tmp_path, "--clients", 1) as child:
        assert child.stdout.read(1) == "!"
        child.kill()
        # The end of what they say is that of the client, too; else it would play for ever.
        assert child.communicate(timeout=60) == ("", "")
        assert not (tmp_path / "clients").exists()


@pytest.mark.parametrize("stopped", ["client", "parent"])
def test_who_is_stopped_and_goes_on_does_not_end_the_run(tmp_path, stopped):
    program = compile_static(LOADFILE)
    with loadfile_beside(program, tmp_path, "--clients", 2, "--runtime", 1000) as child:
        while not all((tmp_path / f"clients/client{n}").exists() for n in (1, 2)):
            time.sleep(0.01)
        pid = child.pid if stopped == "parent" else clients_of(child, 2)[0]
        os.kill(pid, signal.SIGSTOP)
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.01)
        os.kill(pid, signal.SIGCONT)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1)


def test_a_client_that_is_killed_ends_the_run_with_a_sentence(tmp_path):
    """Though another one is stopped."""
    options = ("--clients", 2, "--runtime", 1000)
    with loadfile_beside(compile_static(LOADFILE), tmp_path, *options) as child:
        stopped, killed = clients_of(child, 2)
        os.kill(stopped, signal.SIGSTOP)
        os.kill(killed, signal.SIGKILL)
        said = child.communicate(timeout=60)
        assert (
            child.returncode == 1
            and said[1] == "loadfile: a client was killed by signal 9 (Killed)\n"
        )


def test_both_times_of_known_passes(tmp_path):
    program = compiled(tmp_path, "times_of.c", LOADFILE / "times.c")
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        # 10, 10, 10, 10, 25, 25, 10, 1
        "Loadfile: 12.6250 ms, Stddev 8.2451, 8 passes",
        # The first has ended a pass, and the second, at 25; then again at 50; and never again.
        "All-clients: 25.0000 ms, Stddev 0.0000, 2 times that all clients had ended one",
    ]
    late = subprocess.run([program, "late"], capture_output=True, text=True)
    assert "Loadfile: 11.0000 ms, Stddev 7.7460, 6 passes" in late.stdout
    assert late.returncode == 1 and "1 were measured, and two are needed" in late.stderr
