# SPDX-License-Identifier: GPL-2.0
"""What saakm test adds to pytest: kernels built first, workers, and a closing line."""
