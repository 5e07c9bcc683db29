# SPDX-License-Identifier: GPL-2.0
"""Where the threads of applications run under each scheduler, and for how long at a time."""
