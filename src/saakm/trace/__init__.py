# SPDX-License-Identifier: GPL-2.0
"""What happened in a run: recorded in the guest, told as a Perfetto trace and in pictures."""
