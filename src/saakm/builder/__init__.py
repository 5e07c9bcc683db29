# SPDX-License-Identifier: GPL-2.0
"""Makes things from sources: the kernel, modules, policies, programs, crates, peers."""
