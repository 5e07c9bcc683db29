/* SPDX-License-Identifier: GPL-2.0 */
/* The host's side of the simulator, for headers of the kernel's: time, events, sim_context. */
#include "../../engine/host.h"
