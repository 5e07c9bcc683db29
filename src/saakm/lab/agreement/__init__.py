# SPDX-License-Identifier: GPL-2.0
"""Whether the simulator agrees with the kernel: scripted scenarios, run whole in both."""
