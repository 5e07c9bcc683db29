# SPDX-License-Identifier: GPL-2.0
"""Machines that run what was built: QEMU, its command lines, guests and their consoles."""
