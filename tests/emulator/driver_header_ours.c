/* The emulator's declarations, measured; beside cuda.h they would be declared twice. */
#include "emulator/cuda_types.h"

#define FACTS_NAME ours
#include "tests/emulator/driver_header_facts.h"
