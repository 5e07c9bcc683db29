# SPDX-License-Identifier: GPL-2.0
"""What every room stands on: errors, files, locks, processes, progress, where things are."""
