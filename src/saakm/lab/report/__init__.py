# SPDX-License-Identifier: GPL-2.0
"""Results as something to read: one HTML file, or Markdown."""
