/* cache_disk.h: the entry that a call wants, in the directory: find it, or build and store it. */
#ifndef LT_RUNTIME_CACHE_DISK_H
#define LT_RUNTIME_CACHE_DISK_H

#include "runtime/cache_work.h"

/* The warm start: true on a hit. Nothing is made, locked or written. */
bool lt_disk_find(struct lt_work *work);

/* Waits for another process that builds the same; else builds, stores and evicts. */
enum lathe_status lt_disk_obtain(struct lt_work *work);

#endif
