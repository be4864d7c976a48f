/* tensor_copy.h: what the files of tensor maps share among themselves. */
#ifndef EMU_TENSOR_COPY_H
#define EMU_TENSOR_COPY_H

#include "emulator/tensor_map.h"

bool emu_swizzle_exists(int swizzle);
/* Bytes of a row of the pattern; 0 where nothing is swizzled. */
uint32_t emu_swizzle_span(int swizzle);
/* Bytes that stay contiguous under the swizzle; 0: all. */
uint32_t emu_swizzle_unit(int swizzle);

bool emu_tensor_is_float(int type);
bool emu_tensor_is_tf32(int type);

/* Null where a copy may use the map; else the rule that it breaks, in words. tensormap.replace can
 * bring a map into a state that the host would not have encoded. */
const char *emu_tensor_map_fault(const struct emu_tensor_map *map);

#endif
