/* SPDX-License-Identifier: GPL-2.0 */
/* Put into the class: which fault is live, and which places were reached. */
#ifndef _SAAKM_MUTANT_H
#define _SAAKM_MUTANT_H
extern unsigned int saakm_mutant;
extern u8 saakm_mutants_reached[];
#define saakm_live(n) ({					\
	if (unlikely(!saakm_mutants_reached[n]))		\
		saakm_mutants_reached[n] = 1;			\
	unlikely(saakm_mutant == (n)); })
#endif
