# SPDX-License-Identifier: GPL-2.0
"""Experiments: what schedulers cost, how they behave, and how that is told."""
