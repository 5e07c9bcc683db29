# SPDX-License-Identifier: GPL-2.0
"""The loop of saakm dev (save, build, replace, see), and the sources of a new policy."""
