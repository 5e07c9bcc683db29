# SPDX-License-Identifier: GPL-2.0
"""What a simulated machine is given to do: programs of threads, their text, and where they come from."""
