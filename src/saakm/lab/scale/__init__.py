# SPDX-License-Identifier: GPL-2.0
"""How fast the simulator is, with how many CPUs and threads."""
