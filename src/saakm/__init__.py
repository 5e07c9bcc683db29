# SPDX-License-Identifier: GPL-2.0
"""SaaKM: build, boot, run and test CPU schedulers that are kernel modules."""
