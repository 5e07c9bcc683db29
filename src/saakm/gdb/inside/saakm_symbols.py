# SPDX-License-Identifier: GPL-2.0
"""Symbols of the modules that are loaded, and of those that will be."""

import glob
import os
import subprocess

import gdb

from linux import modules, symbols


class ModuleSymbols(symbols.LxSymbols):  # type: ignore[misc]  # of the kernel's, without types
    """Load the symbols of modules anew (done by itself when gdb starts and when one is loaded).

    Which file it is tells its build ID: policies of one name may have been built in several places."""

    addresses: dict[str, int] = {}

    def invoke(self, argument: str, from_tty: bool) -> None:
        self.load_all_symbols()

    def load_module_symbols(self, module: gdb.Value) -> None:
        name = module["name"].string()
        self.addresses[name] = int(module["mem"][0]["base"])
        file = module_file(module)
        if not file:
            gdb.write(f"saakm: no file of module {name} in {os.environ['SAAKM_MODULES']}\n")
            return
        address = str(module["mem"][0]["base"]).split()[0]
        sections = self._section_arguments(module, address)
        if module["percpu"]:
            sections += f" -s .data..percpu {int(module['percpu']):#x}"
        gdb.execute(f"add-symbol-file {_at_zero(file, name)} {sections}", to_string=True)
        self.loaded_modules.append(name)


def module_file(module: gdb.Value) -> str | None:
    name, note = module["name"].string(), _build_id_note(module)
    for file in glob.glob(f"{os.environ['SAAKM_MODULES']}/**/{name}.ko", recursive=True):
        with open(file, "rb") as content:
            if note and note in content.read():
                return file
    return None


def _at_zero(file: str, name: str) -> str:
    """A copy whose sections all begin at 0: else gdb finds no variable (the linker leaves .data at 0x40)."""
    os.makedirs(os.environ["SAAKM_SYMBOLS"], exist_ok=True)
    copy = f"{os.environ['SAAKM_SYMBOLS']}/{name}.ko"
    subprocess.run(["objcopy", "--change-section-address", ".data=0", file, copy], check=True)
    return copy


def _build_id_note(module: gdb.Value) -> bytes | None:
    sections = module["sect_attrs"].dereference()
    for i in range(int(sections["nsections"])):
        section = sections["attrs"][i]
        if section["battr"]["attr"]["name"].string() == ".note.gnu.build-id":
            # A header of 16 bytes, and an SHA-1.
            return bytes(gdb.selected_inferior().read_memory(int(section["address"]), 36))
    return None


def follow_modules() -> None:
    """Knows the modules at every stop; stops when one is loaded only if a breakpoint may be in it.

    A stop, however short, changes what the guest does afterwards.
    """
    command = ModuleSymbols()
    _load_new(command)
    gdb.events.stop.connect(lambda _: _load_new(command))
    gdb.events.breakpoint_created.connect(lambda made: _wait_for_modules(command, made))


def _load_new(command: ModuleSymbols) -> None:
    if not _kernel_runs():
        return
    now = [(module["name"].string(), module) for module in modules.module_list()]
    known = command.addresses
    if any(name in known and known[name] != int(module["mem"][0]["base"]) for name, module in now):
        command.load_all_symbols()  # gdb cannot move what it has
        return
    for name, module in now:
        if name not in known:
            command.load_module_symbols(module)


def _wait_for_modules(command: ModuleSymbols, made: gdb.Breakpoint) -> None:
    if made.pending and not command.breakpoint:
        command.breakpoint = symbols.LoadModuleBreakpoint("do_init_module", command)


def _kernel_runs() -> bool:
    """Its page tables are there, and its per-CPU data."""
    try:
        return int(gdb.parse_and_eval("system_state")) > 0
    except gdb.error:
        return False
