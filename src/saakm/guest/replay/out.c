// SPDX-License-Identifier: GPL-2.0
/* The recording: numbers of seven bits a byte, the lowest first. */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *out;

void open_out(const char *path)
{
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		exit(1);
	}
	setvbuf(out, NULL, _IOFBF, 1 << 20);
}

void put_byte(char byte)
{
	putc_unlocked(byte, out);
}

void put(uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		putc_unlocked(number | 0x80, out);
	putc_unlocked(number, out);
}

void put_bytes(const void *bytes, size_t length)
{
	fwrite(bytes, 1, length, out);
}

void close_out(void)
{
	if (fclose(out))
		perror("replay: the recording");
}
