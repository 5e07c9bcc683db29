# SPDX-License-Identifier: GPL-2.0
"""Faults put into the class on purpose, to see whether the tests notice: tests/mutate."""
