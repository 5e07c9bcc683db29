# SPDX-License-Identifier: GPL-2.0
"""What Linux's core asked of the class in a guest, asked of the same class in the simulator."""
