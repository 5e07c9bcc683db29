// SPDX-License-Identifier: GPL-2.0
/* Why a user's request could not be met: /sys/kernel/saakm/last_error. */

static DEFINE_RAW_SPINLOCK(saakm_error_lock);
char saakm_last_error[SAAKM_ERROR_LEN];

/* A user's request cannot be met: tell him why. */
int saakm_refuse(int error, const char *fmt, ...)
{
	va_list args;

	guard(raw_spinlock_irqsave)(&saakm_error_lock);
	va_start(args, fmt);
	vscnprintf(saakm_last_error, sizeof(saakm_last_error), fmt, args);
	va_end(args);
	return error;
}
