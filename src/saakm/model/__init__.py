# SPDX-License-Identifier: GPL-2.0
"""What files hold that people write and that we keep: workloads, runs, costs, traces.

Each kind is a structure with types. What does not fit is refused with the file and the key; what
was written by a later version says so in its `schema`.
"""
