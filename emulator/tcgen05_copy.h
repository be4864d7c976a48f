/* tcgen05_copy.h: tcgen05.cp and .shift on the memories of a CTA. */
#ifndef EMU_TCGEN05_COPY_H
#define EMU_TCGEN05_COPY_H

#include "emulator/mma.h"
#include "emulator/tcgen05.h"
#include "emulator/wgmma_descriptor.h"

enum { EMU_SHIFT_COLUMNS = 8, EMU_COPY_ROW_BYTES = 16 };

uint32_t emu_tmem_copy_columns(enum emu_tmem_copy copy);
/* What it brings, once for all replicas. */
uint32_t emu_tmem_copy_bytes(enum emu_tmem_copy copy);
/* False where the descriptor leads outside of shared memory. */
bool emu_tmem_copy(const struct emu_tcgen05 *form, const struct emu_descriptor *matrix,
                   const unsigned char *shared, uint32_t shared_bytes, uint32_t *cells,
                   uint32_t address);
/* What it reads of shared memory, and which lanes it writes. */
void emu_tmem_copy_reads(const struct emu_tcgen05 *form, const struct emu_descriptor *matrix,
                         uint32_t shared_bytes, emu_bytes_read tell, void *user);
void emu_tmem_copy_lanes(enum emu_tmem_copy copy, uint32_t first, uint32_t lanes[4]);
/* Rows of 32 bytes go down by one lane, but for the last of each sub-partition. */
void emu_tmem_shift(uint32_t *cells, uint32_t address);

#endif
