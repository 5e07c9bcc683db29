# SPDX-License-Identifier: GPL-2.0
"""How a simulator is put together: machines, Kbuild files, what is compiled again, and complaints."""

import os
import subprocess
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.sim import build, compile, complaints, kinds, machine
from saakm.sim.compile import CompileError, Unit, compile_all
from saakm.sim.durations import nanoseconds, shown
from saakm.sim.kbuild import Module, read_module
from saakm.sim.kinds import Compiler, Kind, Recipe


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(compile, "CACHE", tmp_path / "sim")
    return tmp_path


def policy(directory, kbuild="obj-m := mine.o\n", **files):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "Kbuild").write_text(kbuild)
    for name, text in (files or {"mine": "int mine;\n"}).items():
        (directory / f"{name}.c").write_text(text)
    return directory


# --- machines and times ---


@pytest.mark.parametrize(
    ("name", "options", "limit"),
    [
        ("1s4c", "cpus=4 smt=1 llc=4 node=4", 64),
        ("2s4c2t", "cpus=16 smt=2 llc=8 node=8", 64),
        ("2s2l2c-4n", "cpus=8 smt=1 llc=2 node=2", 64),
        ("8s64c2t", "cpus=1024 smt=2 llc=128 node=128", 1024),
        ("8s4l64c2t", "cpus=4096 smt=2 llc=128 node=512", 4096),
    ],
)
def test_a_topology_as_options(name, options, limit):
    topology = machine.parse_machine(name)
    assert machine.options(topology) == options.split()
    assert machine.nr_cpus(topology) == limit


def test_a_machine_that_is_too_large_is_refused():
    with pytest.raises(SaakmError) as error:
        machine.parse_machine("9s4l64c2t")
    assert "4608 CPUs" in error.value.why and "at most 4096" in error.value.why


@pytest.mark.parametrize(
    ("text", "ns"),
    [("10s", 10**10), ("500ms", 5 * 10**8), ("1.5us", 1500), ("3ns", 3), ("2m", 12 * 10**10)],
)
def test_times(text, ns):
    assert nanoseconds(text, "--for") == ns


@pytest.mark.parametrize("text", ["", "10", "0s", "-1s", "1d", "s", "0.1ns", "9999999999h", "1 s"])
def test_what_is_no_time(text):
    with pytest.raises(SaakmError, match="is not a span of simulated time"):
        nanoseconds(text, "--for")


def test_times_are_shown_in_their_unit():
    found = [shown(ns) for ns in (0, 999, 1000, 1_250_000, 10**10, 250 * 10**9)]
    assert found == ["0 ns", "999 ns", "1.00 us", "1.25 ms", "10.0 s", "250 s"]


# --- Kbuild files ---


def test_objects_of_a_module(tmp_path):
    here = policy(tmp_path / "mine", "obj-m := mine.o # not\nmine-y := a.o \\\n b.o\nmine-y += a.o\n",
                  a="", b="")  # fmt: skip
    module = read_module(here)
    assert module.name == "mine" and [file.name for file in module.sources] == ["a.c", "b.c"]


def test_one_of_several_modules(tmp_path):
    here = policy(tmp_path / "mine", "obj-m := mine.o mine-2.o\n", **{"mine": "", "mine-2": ""})
    assert read_module(here).sources == (here / "mine.c",)
    other = read_module(here, "mine-2")
    assert other.sources == (here / "mine-2.c",) and other.modname == "mine_2"
    with pytest.raises(SaakmError, match="has no module 'mine3'"):
        read_module(here, "mine3")


def test_flags_for_the_compiler(tmp_path):
    said = "obj-m := mine.o\nccflags-y := -DX=1 -I$(src)/inc\nccflags-y += -Wextra\nCFLAGS_mine.o := -DY\n"
    here = policy(tmp_path / "mine", said)
    assert read_module(here).flags == ("-DX=1", f"-I{here}/inc", "-Wextra", "-DY")


@pytest.mark.parametrize(
    ("kbuild", "why"),
    [
        ("obj-m := mine.o\nmine-y := a.o\n", "there is no a.c: only C is compiled"),
        ("obj-m := mine.o\nmine-y := $(patsubst x,y,z).o\n", "only make knows"),
        ("obj-m := mine.o\nccflags-y := $(call cc-option,-Wx)\n", "means something to make alone"),
    ],
)
def test_what_only_make_knows_is_refused(tmp_path, kbuild, why):
    with pytest.raises(SaakmError) as error:
        read_module(policy(tmp_path / "mine", kbuild))
    assert why in error.value.why and "saakm run" in error.value.next_step


def test_every_policy_of_the_checkout_is_read():
    found = [*paths.REPO.glob("policies/*/Kbuild"), *paths.REPO.glob("docs/examples/**/Kbuild"),
             *paths.REPO.glob("tests/guest/modules/*/Kbuild")]  # fmt: skip
    assert len(found) > 30
    for kbuild in found:
        assert read_module(kbuild.parent).sources


def test_two_modules_of_one_name_are_refused(tmp_path):
    modules = [read_module(policy(tmp_path / part / "mine")) for part in "ab"]
    with pytest.raises(SaakmError, match="two modules are called 'mine'"):
        build.build(modules, Recipe())


# --- which compiler, and how ---


def test_kinds_and_compilers_that_exclude_each_other():
    with pytest.raises(SaakmError, match="--sanitize and --compiler clang"):
        Recipe(Kind.SANITIZE, Compiler.CLANG)
    with pytest.raises(SaakmError, match="--coverage and --compiler gcc"):
        Recipe(Kind.COVERAGE, Compiler.GCC)


def test_a_sanitized_program_is_not_linked_statically():
    assert "-static" in Recipe().linking
    sanitized = Recipe(Kind.SANITIZE).linking
    assert "-static" not in sanitized and "-fsanitize=address,undefined" in sanitized


# --- what is compiled again ---


def unit(file, *flags, inputs="", of_policy=False):
    return Unit(file, "gcc", flags, inputs, of_policy)


def test_an_object_is_of_content_flags_and_what_is_included(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("int a;\n")
    objects = {unit(file).object, unit(file, "-O2").object, unit(file, inputs="x").object}
    file.write_text("int b;\n")
    objects.add(unit(file).object)
    assert len(objects) == 4
    file.write_text("int a;\n")
    assert unit(file).object in objects


def test_what_is_compiled_is_not_compiled_again(place, monkeypatch, capfd):
    file = place / "a.c"
    file.write_text("int f(void) { int unused; return 0; }\n")
    one = unit(file, "-Wall", of_policy=True)
    (made,) = compile_all([one]).values()
    assert made.exists() and "unused variable 'unused'" in capfd.readouterr().err
    os.utime(made, (0, 0))
    monkeypatch.setattr(compile, "run_tool", lambda command: pytest.fail("compiled again"))
    assert compile_all([one]) == {one: made}
    assert made.stat().st_mtime > 0


def test_what_is_edited_while_it_is_compiled_is_not_kept(place):
    """Neither under the name of what was there before, nor for what is there now."""
    file, included = place / "a.c", place / "a.h"
    file.write_text("int a;\n")
    included.touch()
    compiler = place / "compiler"
    for edited in (file, included):
        compiler.write_text(f'#!/bin/sh\n[ $1 = -c ] || exit\ngcc "$@"; echo >>{edited}\n')
        compiler.chmod(0o755)
        now = included.read_text()
        one = Unit(file, str(compiler), (), now, look_again=included.read_text)
        with pytest.raises(compile.Edited):
            compile_all([one])
        assert not list((compile.CACHE / "objects").iterdir())


def test_an_edit_begins_the_build_again(place, monkeypatch):
    tries = []

    def make(modules, recipe, agent, start):
        tries.append(modules)
        if len(tries) < wanted:
            raise compile.Edited(place)
        return place

    monkeypatch.setattr(build, "_build", make)
    wanted = 3
    assert build.build([], Recipe()) == place
    wanted = 7
    with pytest.raises(SaakmError, match="cannot be compiled"):
        build.build([], Recipe())
    assert len(tries) == 6


def test_two_link_the_same_program_at_once(place, monkeypatch):
    order = place / "order.ld"
    order.write_text("SECTIONS { .none : { *(none) } } INSERT AFTER .data;\n")
    monkeypatch.setattr(kinds, "ORDER", order)
    module = read_module(policy(place / "mine"))
    main = place / "main.c"
    main.write_text("int main(void) { return 0; }\n")
    units = [Unit(file, "gcc", (), "") for file in (main, module.sources[0])]
    first, own = compile_all(units).values()
    program = place / "programs" / "sim"

    def link():
        build._link(program, [first], [(module, [own])], Recipe())

    def another_comes_first(command, modules, run=build._run):
        if command[0] == "gcc":
            monkeypatch.setattr(build, "_run", run)
            link()
        run(command, modules)

    monkeypatch.setattr(build, "_run", another_comes_first)
    link()
    assert list(program.parent.iterdir()) == [program]
    assert subprocess.run([program]).returncode == 0


def test_a_week_later_what_nobody_uses_goes(place):
    objects = compile.CACHE / "objects"
    objects.mkdir(parents=True)
    for name in ("old.o", "new.o"):
        (objects / name).touch()
    os.utime(objects / "old.o", (0, 0))
    compile.remove_unused()
    assert [file.name for file in objects.iterdir()] == ["new.o"]


def test_headers_count_for_all_that_may_include_them(tmp_path):
    module = read_module(policy(tmp_path / "mine"))
    (before,) = build.policy_units(module, Recipe())
    (module.directory / "own.h").write_text("/* */\n")
    (after,) = build.policy_units(module, Recipe())
    assert before.inputs != after.inputs and before.object != after.object
    assert '-DKBUILD_MODNAME="mine"' in after.flags and "-DNR_CPUS=64" in after.flags
    (wide,) = build.policy_units(module, Recipe(nr_cpus=1024))
    assert "-DNR_CPUS=1024" in wide.flags and wide.object != after.object


# --- complaints ---


def compiled(directory, text, *flags):
    """What gcc or clang says of it."""
    file = policy(directory, mine=text) / "mine.c"
    with pytest.raises(CompileError) as error:
        compile._compile(Unit(file, flags[0], flags[1:], "", of_policy=True))
    return complaints.of_compiler(error.value)


@pytest.mark.parametrize(
    ("include", "flags"),
    [
        ('#include "../../other/all.c"', ""),
        ('#include "neighbour/all.c"', ""),
        ('#include "all.c"', "ccflags-y := -I$(src)/../../other\n"),
        ("#include <all.c>", "ccflags-y := -I$(src)/../../other\n"),
        ('#define ALL "../../other/all.c"\n#include ALL', ""),
        ("#include ALL", "ccflags-y := -DALL='\"../../other/all.c\"'\n"),
        ('#include /* all */ "../../other/all.c"', ""),
        ("", "ccflags-y := -include$(src)/../../other/all.c\n"),
        ('#include "../../links/all.c"', ""),
    ],
    ids=["path", "neighbour", "quoted", "bracketed", "macro", "flag", "comment", "forced", "link"],
)
def test_what_is_included_from_elsewhere_counts(tmp_path, include, flags):
    """A test's policy may be another one, and more."""
    kbuild = f"obj-m := mine.o\n{flags}"
    mine = read_module(policy(tmp_path / "tests/mine", kbuild, mine=f"{include}\n"))
    policy(tmp_path / "tests/neighbour", all='#include "../../other/all.c"\n')
    policy(tmp_path / "other", all='#  include "some.h"\n#include "none.h"\n')
    (tmp_path / "other/some.h").write_text("int one;\n")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/all.c").symlink_to("../beyond.c")
    (tmp_path / "beyond.c").write_text('#include "all.h"\n')
    (tmp_path / "links/all.h").symlink_to("../other/some.h")

    def made():
        return build.policy_units(mine, Recipe())[0].object

    before = made()
    assert made() == before
    (tmp_path / "other/some.h").write_text("int two;\n")
    assert made() != before


@pytest.mark.parametrize(
    "name", ["a" * 300, "a\0b", "/proc/sys/kernel/random/uuid"], ids=["long", "nul", "proc"]
)
def test_what_cannot_be_included_is_left_to_the_compiler(tmp_path, name):
    mine = read_module(policy(tmp_path / "mine", mine=f'#include "{name}"\n'))
    first, second = (build.policy_units(mine, Recipe())[0].object for _ in range(2))
    assert first == second


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_a_header_that_there_is_not(place, compiler):
    (compile.CACHE / "objects").mkdir(parents=True)
    said = compiled(place / "mine", "\n#include <linux/kprobes.h>\n", compiler)
    assert said.what == "the simulator has no header <linux/kprobes.h>"
    assert said.why.startswith(f"{place}/mine/mine.c:2 uses it")
    assert "no kernel whose code" in said.next_step and "saakm run" in said.next_step


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_a_function_that_there_is_not(place, compiler):
    (compile.CACHE / "objects").mkdir(parents=True)
    flag = "-Werror=implicit-function-declaration"
    said = compiled(place / "mine", "int f(void)\n{\n\treturn msleep(1);\n}\n", compiler, flag)
    assert said.what == "the simulator has no name 'msleep'"
    assert f"{place}/mine/mine.c:3 uses it" in said.why and "saakm run" in said.next_step


def test_another_error_is_shown_as_it_is(place):
    (compile.CACHE / "objects").mkdir(parents=True)
    said = compiled(place / "mine", "int f(void) { return }\n", "gcc")
    assert said.what == f"{place}/mine/mine.c does not compile" and "error: expected" in said.why


@pytest.mark.parametrize("compiler", list(Compiler))
def test_a_symbol_that_nobody_has(place, compiler, monkeypatch):
    order = place / "order.ld"
    order.write_text("SECTIONS { .none : { *(none) } } INSERT AFTER .data;\n")
    monkeypatch.setattr(kinds, "ORDER", order)
    text = "int missing(void);\nint f(void);\nint f(void)\n{\n\treturn missing();\n}\n"
    module = read_module(policy(place / "mine", mine=text))
    one = Unit(module.sources[0], compiler.program, ("-g",), "", of_policy=True)
    (made,) = compile_all([one]).values()
    main = place / "main.c"
    main.write_text("int main(void) { return 0; }\n")
    (first,) = compile_all([Unit(main, compiler.program, ("-g",), "")]).values()
    recipe = Recipe(compiler=compiler)
    with pytest.raises(SaakmError) as error:
        build._link(place / "program", [first], [(module, [made])], recipe)
    assert error.value.what == "the simulator has no function or variable 'missing'"
    assert f"{module.sources[0]}:5 uses it" in error.value.why
    assert not (place / "program").exists()
    assert not list(place.glob(".program*"))


def test_names_of_a_module_are_its_own(place):
    """Two modules may both have a global `shared`."""
    text = "int shared = {0};\nint get(void);\nint get(void) {{ return shared; }}\n"
    found = []
    for number, part in enumerate("ab"):
        directory = policy(place / part, f"obj-m := {part}.o\n", **{part: text.format(number)})
        module = read_module(directory)
        (made,) = compile_all([Unit(module.sources[0], "gcc", (), "")]).values()
        found.append(build._join(place, module, [made]))
    main = place / "main.c"
    main.write_text("int main(void) { return 0; }\n")
    done = subprocess.run(["gcc", main, *found, "-o", place / "both"])
    assert done.returncode == 0


def test_a_fault_of_the_simulator_is_not_blamed_on_the_policy():
    module = Module("mine", Path("/nosuch"), ())
    said = complaints.of_linker("/work/sim/core/a.c:3: undefined reference to `f'\n", [module])
    assert said.what == "the simulator does not link" and said.why.startswith("f is missing")
    wrong = Unit(kinds.CORE / "core.c", "gcc", (), "")
    said = complaints.of_compiler(CompileError(wrong, "core.c:1:1: error: what"))
    assert said.what == "the simulator does not compile" and "sim/core/core.c" in said.why
