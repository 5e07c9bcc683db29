# SPDX-License-Identifier: GPL-2.0
"""gdb on a running guest: finding it, and what gdb has to know of it."""
