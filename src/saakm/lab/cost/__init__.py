# SPDX-License-Identifier: GPL-2.0
"""What scheduling costs, in executed instructions."""
