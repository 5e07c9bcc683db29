# SPDX-License-Identifier: GPL-2.0
"""Real applications under each scheduler: how they are run, counted and compared."""
