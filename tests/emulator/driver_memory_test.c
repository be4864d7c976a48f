/* driver_memory_test.c: memory, copies, fills, pointers, tensor maps. Argument: the library. */
#include "tests/emulator/driver_fixture.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

static void memory_is_exact(void **state)
{
    unsigned char bytes[1001] = {0};
    CUdeviceptr pointer, base = 0;
    size_t length = 0;

    (void)state;
    FAILS(cu.cuMemAlloc_v2(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemAlloc_v2(NULL, 10), CUDA_ERROR_INVALID_VALUE);
    pointer = driver_memory(1000);
    assert_int_equal(pointer % 256, 0);
    OK(cu.cuMemcpyHtoD_v2(pointer, bytes, 1000));
    bytes[999] = 1;
    OK(cu.cuMemcpyDtoH_v2(bytes, pointer, 1000));
    assert_int_equal(bytes[999], 0);
    OK(cu.cuMemcpyDtoH_v2(bytes, pointer + 999, 1));
    OK(cu.cuMemGetAddressRange_v2(&base, &length, pointer + 5));
    assert_int_equal(base, pointer);
    assert_int_equal(length, 1000);
    OK(cu.cuMemGetAddressRange_v2(NULL, NULL, pointer));
    FAILS(cu.cuMemGetAddressRange_v2(&base, &length, 16), CUDA_ERROR_NOT_FOUND);
    FAILS(cu.cuMemFree_v2(pointer + 256), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemFree_v2(pointer));
    FAILS(cu.cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemFree_v2(0));
    FAILS(cu.cuMemcpyHtoD_v2(pointer, bytes, 1), CUDA_ERROR_INVALID_VALUE);
}

/* The emulator knows the very byte where an allocation ends; a real device knows pages. */
static void copies_over_the_end_are_refused(void **state)
{
    unsigned char bytes[1001] = {0};
    CUdeviceptr pointer;

    (void)state;
    only_on_the_fake();
    pointer = driver_memory(1000);
    FAILS(cu.cuMemcpyHtoD_v2(pointer, bytes, 1001), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemcpyHtoD_v2(pointer + 999, bytes, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemcpyDtoH_v2(bytes, pointer + 1000, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemcpyDtoH_v2(bytes, pointer - 1, 1), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemcpyDtoH_v2(bytes, pointer, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemsetD32Async(pointer, 0, 251, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemsetD32Async(pointer, 0, SIZE_MAX / 2, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemcpyDtoD_v2(pointer, pointer + 500, 501), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemFree_v2(pointer));
}

static void memory_is_copied_and_filled(void **state)
{
    static const unsigned char expected[12] = {9,    9,    0xcd, 0xab, 0xcd, 0xab,
                                               0xcd, 0xab, 0x04, 0x03, 0x02, 0x01};
    unsigned char bytes[12] = {0};
    CUdeviceptr from = driver_memory(12), to = driver_memory(12);

    (void)state;
    OK(cu.cuMemsetD8_v2(from, 9, 12));
    OK(cu.cuMemsetD16Async(from + 2, 0xabcd, 3, NULL));
    OK(cu.cuMemsetD32_v2(from + 8, 0x01020304, 1));
    OK(cu.cuMemcpyDtoDAsync_v2(to, from, 12, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemcpyDtoH_v2(bytes, to, 12));
    assert_memory_equal(bytes, expected, 12);
    memset(bytes, 0, sizeof bytes);
    OK(cu.cuMemcpy((CUdeviceptr)(uintptr_t)bytes, to, 12));
    assert_memory_equal(bytes, expected, 12);
    FAILS(cu.cuMemsetD16Async(from + 1, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemsetD32Async(from + 2, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemcpyHtoD_v2(from, bytes, 0));
    OK(cu.cuMemFree_v2(from));
    OK(cu.cuMemFree_v2(to));
}

/* Every length from 0 to 40 and every element size, against a loop. */
static void fills_write_what_they_should_and_no_more(void **state)
{
    CUdeviceptr memory = driver_memory(256);
    unsigned char bytes[256];

    (void)state;
    for (unsigned element = 1; element <= 4; element *= 2)
        for (size_t count = 0; count <= 40; count++) {
            const unsigned value = 0x44332211;

            OK(cu.cuMemsetD8_v2(memory, 0xee, 256));
            OK(element == 1   ? cu.cuMemsetD8_v2(memory + 16, (unsigned char)value, count)
               : element == 2 ? cu.cuMemsetD16_v2(memory + 16, (unsigned short)value, count)
                              : cu.cuMemsetD32_v2(memory + 16, value, count));
            OK(cu.cuMemcpyDtoH_v2(bytes, memory, 256));
            for (size_t i = 0; i < 256; i++) {
                bool is_inside = i >= 16 && i < 16 + count * element;
                unsigned char wanted = (unsigned char)(0x11 * ((i - 16) % element + 1));

                assert_int_equal(bytes[i], is_inside ? wanted : 0xee);
            }
        }
    OK(cu.cuMemFree_v2(memory));
}

static void boxes_are_copied_row_by_row(void **state)
{
    enum { PITCH = 16, ROWS = 6 };
    unsigned char host[8 * 5], back[PITCH * ROWS];
    CUdeviceptr memory = driver_memory(PITCH * ROWS);
    CUDA_MEMCPY2D box = {.srcXInBytes = 1,
                         .srcY = 2,
                         .srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = host,
                         .srcPitch = 8,
                         .dstXInBytes = 3,
                         .dstY = 1,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = memory,
                         .dstPitch = PITCH,
                         .WidthInBytes = 5,
                         .Height = 3};

    (void)state;
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)i;
    OK(cu.cuMemsetD2D8_v2(memory, PITCH, 0xee, PITCH, ROWS));
    OK(cu.cuMemcpy2D_v2(&box));
    OK(cu.cuMemcpyDtoH_v2(back, memory, sizeof back));
    for (size_t y = 0; y < ROWS; y++)
        for (size_t x = 0; x < PITCH; x++) {
            bool is_inside = x >= 3 && x < 8 && y >= 1 && y < 4;
            size_t from = (y + 1) * 8 + x - 2;

            assert_int_equal(back[y * PITCH + x], is_inside ? from : 0xee);
        }
    box.srcPitch = 5; /* less than the box and what is before it */
    FAILS(cu.cuMemcpy2D_v2(&box), CUDA_ERROR_INVALID_VALUE);
    box.srcPitch = 8;
    box.dstMemoryType = 9;
    FAILS(cu.cuMemcpy2D_v2(&box), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemcpy2D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemFree_v2(memory));
}

static void slices_are_copied_one_behind_the_other(void **state)
{
    unsigned char host[2 * 3 * 4], back[2 * 5 * 8];
    CUdeviceptr memory = driver_memory(sizeof back);
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = host,
                         .srcPitch = 4,
                         .srcHeight = 3,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = memory,
                         .dstPitch = 8,
                         .dstHeight = 5,
                         .WidthInBytes = 4,
                         .Height = 3,
                         .Depth = 2};

    (void)state;
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)i;
    OK(cu.cuMemsetD8_v2(memory, 0xee, sizeof back));
    OK(cu.cuMemcpy3D_v2(&box));
    OK(cu.cuMemcpyDtoH_v2(back, memory, sizeof back));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 5; y++)
            for (size_t x = 0; x < 8; x++)
                assert_int_equal(back[(z * 5 + y) * 8 + x],
                                 x < 4 && y < 3 ? (z * 3 + y) * 4 + x : 0xee);
    OK(cu.cuMemFree_v2(memory));
}

static void pitched_memory_is_wide_enough(void **state)
{
    CUdeviceptr memory;
    size_t pitch = 0;

    (void)state;
    OK(cu.cuMemAllocPitch_v2(&memory, &pitch, 1001, 7, 4));
    assert_true(pitch >= 1001);
    assert_int_equal(pitch % 128, 0);
    OK(cu.cuMemsetD2D8_v2(memory, pitch, 1, 1001, 7));
    OK(cu.cuMemFree_v2(memory));
    FAILS(cu.cuMemAllocPitch_v2(&memory, &pitch, 10, 7, 3), CUDA_ERROR_INVALID_VALUE);
}

static void the_total_is_what_there_is(void **state)
{
    size_t before = 0, after = 0, total = 0;
    CUdeviceptr memory;

    (void)state;
    only_on_the_fake();
    OK(cu.cuMemGetInfo_v2(&before, &total));
    assert_int_equal(total, (size_t)16 << 30);
    memory = driver_memory(3000);
    OK(cu.cuMemGetInfo_v2(&after, NULL));
    assert_int_equal(before - after, 3000);
    OK(cu.cuMemFree_v2(memory));
    FAILS(cu.cuMemAlloc_v2(&memory, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(emulator.last_report(), "no room for"));
}

static void a_pool_gives_and_takes_in_order(void **state)
{
    CUmemoryPool pool, other;
    CUdeviceptr memory;
    CUstream stream;
    uint64_t value = 99;
    int on = 0;

    (void)state;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cu.cuDeviceGetMemPool(&other, 0));
    assert_ptr_equal(pool, other);
    OK(cu.cuMemAllocAsync(&memory, 500, stream));
    OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    assert_true(value >= 500);
    OK(cu.cuMemFreeAsync(memory, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    assert_int_equal(value, 0);
    value = 1 << 20;
    OK(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    value = 0;
    OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    assert_int_equal(value, 1 << 20);
    OK(cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
    assert_int_equal(on, 1);
    OK(cu.cuMemPoolTrimTo(pool, 0));
    FAILS(cu.cuMemFreeAsync(12345, stream), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemPoolGetAttribute(pool, 99, &value), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuStreamDestroy_v2(stream));
}

/* ---- Memory of the host ---- */

static void host_memory_has_an_address_for_kernels(void **state)
{
    CUdeviceptr device = 0;
    char *host = NULL, back[5] = "";
    unsigned flags = 0;
    char stranger;

    (void)state;
    OK(cu.cuMemHostAlloc((void **)&host, 100, CU_MEMHOSTALLOC_DEVICEMAP));
    strcpy(host + 8, "here");
    OK(cu.cuMemHostGetDevicePointer_v2(&device, host + 8, 0));
    OK(cu.cuMemcpyDtoH_v2(back, device, 5));
    assert_string_equal(back, "here");
    OK(cu.cuMemHostGetFlags(&flags, host));
    assert_true(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    FAILS(cu.cuMemHostGetDevicePointer_v2(&device, &stranger, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuMemFreeHost(host + 8), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemHostGetDevicePointer_v2(&device, host, 0));
    FAILS(cu.cuMemFree_v2(device), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemFreeHost(host));
    FAILS(cu.cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemHostAlloc((void **)&host, 0, 0));
    OK(cu.cuMemAllocHost_v2((void **)&host, 10));
    OK(cu.cuMemFreeHost(host));
}

static void memory_is_registered_once(void **state)
{
    char *memory = aligned_alloc(4096, 8192);

    (void)state;
    assert_non_null(memory);
    OK(cu.cuMemHostRegister_v2(memory, 8192, 0));
    FAILS(cu.cuMemHostRegister_v2(memory, 4096, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cu.cuMemHostUnregister(memory));
    FAILS(cu.cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    FAILS(cu.cuMemHostRegister_v2(NULL, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    free(memory);
}

static void what_cannot_be_shared_says_so(void **state)
{
    CUdeviceptr pointer;
    char memory[64];

    (void)state;
    only_on_the_fake();
    FAILS(cu.cuMemAllocManaged(&pointer, 64, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_NOT_SUPPORTED);
    assert_non_null(strstr(emulator.last_report(), "cuMemHostAlloc"));
    FAILS(cu.cuMemAllocManaged(&pointer, 64, 9), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuMemHostRegister_v2(memory, sizeof memory, CU_MEMHOSTREGISTER_DEVICEMAP));
    FAILS(cu.cuMemHostGetDevicePointer_v2(&pointer, memory, 0), CUDA_ERROR_NOT_SUPPORTED);
    OK(cu.cuMemHostUnregister(memory));
}

/* ---- Pointers ---- */

static void pointers_say_what_they_are(void **state)
{
    CUdeviceptr memory = driver_memory(300), value = 0;
    unsigned type = 0;
    int ordinal = -1, unknown = 0;
    CUcontext context = NULL;
    size_t bytes = 0;
    void *host;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_CONTEXT};
    void *data[] = {&type, &unknown, &context};

    OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 299));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    OK(cu.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    assert_int_equal(ordinal, 0);
    OK(cu.cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
    assert_ptr_equal(context, *state);
    OK(cu.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 7));
    assert_int_equal(value, memory);
    OK(cu.cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory));
    assert_int_equal(bytes, 300);
    OK(cu.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory + 7));
    assert_int_equal(value, memory + 7);
    FAILS(cu.cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   (CUdeviceptr)(uintptr_t)&type),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuPointerGetAttribute(&type, 999, memory), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuPointerGetAttributes(3, asked, data, (CUdeviceptr)(uintptr_t)&type));
    assert_int_equal(type, 0);
    assert_int_equal(unknown, -2);
    assert_null(context);
    OK(cu.cuMemFree_v2(memory));
}

static void host_pointers_are_those_of_the_host(void **state)
{
    CUdeviceptr value = 0;
    unsigned type = 0;
    char *host;
    void *found = NULL;

    (void)state;
    OK(cu.cuMemHostAlloc((void **)&host, 100, 0));
    OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                (CUdeviceptr)(uintptr_t)host));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    OK(cu.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                (CUdeviceptr)(uintptr_t)host + 3));
    OK(cu.cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_HOST_POINTER, value));
    assert_ptr_equal(found, host + 3);
    OK(cu.cuMemFreeHost(host));
}

/* ---- Tensor maps: here that the arguments arrive; their rules are tensor_map_test.c's ---- */

static void tensor_maps_get_all_arguments(void **state)
{
    CUtensorMap maps[2];
    unsigned char bytes[128];
    const uint64_t dims[3] = {64, 32, 16}, strides[2] = {128, 4096};
    const uint32_t box[3] = {64, 8, 1}, ones[3] = {1, 1, 1};
    const int lower[1] = {-1}, upper[1] = {-2};
    uint64_t number;

    (void)state;
    only_on_the_fake();
    OK(cu.cuTensorMapEncodeTiled(&maps[0], CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, (void *)0x10000,
                                 dims, strides, box, ones, 0, CU_TENSOR_MAP_SWIZZLE_128B, 0, 0));
    memcpy(bytes, &maps[0], sizeof bytes);
    assert_memory_equal(bytes + 20, box, sizeof box);
    memcpy(&number, bytes + 40, 8);
    assert_int_equal(number, 2); /* the element's, before the strides given */
    assert_memory_equal(bytes + 48, strides, sizeof strides);
    assert_int_equal(bytes[105], CU_TENSOR_MAP_SWIZZLE_128B);
    OK(cu.cuTensorMapReplaceAddress(&maps[0], (void *)0x20000));
    memcpy(bytes, &maps[0], sizeof bytes);
    memcpy(&number, bytes + 8, 8);
    assert_int_equal(number, 0x20000);
    FAILS(cu.cuTensorMapReplaceAddress(&maps[0], (void *)0x20001), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuTensorMapEncodeIm2col(&maps[0], CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, (void *)0x10000,
                                  dims, strides, lower, upper, 64, 32, ones, 0, 0, 0, 0));
    memcpy(bytes, &maps[0], sizeof bytes);
    assert_memory_equal(bytes + 80, lower, sizeof lower);
    assert_memory_equal(bytes + 92, upper, sizeof upper);
    assert_int_equal(bytes[104], 1);
    assert_int_equal(bytes[107], 64);
    assert_int_equal(bytes[108], 32);
}

static void tensor_maps_without_their_arguments_are_refused(void **state)
{
    CUtensorMap maps[2];
    const uint64_t dims[5] = {64, 32, 16, 1, 1}, strides[4] = {128, 4096, 65536, 65536};
    const uint32_t box[5] = {64, 8, 1, 1, 1}, ones[5] = {1, 1, 1, 1, 1};

    (void)state;
#define ENCODE(map, type, rank, address, dims, strides, box, ones, swizzle)                        \
    cu.cuTensorMapEncodeTiled(map, type, rank, (void *)(address), dims, strides, box, ones, 0,     \
                              swizzle, 0, 0)
    OK(ENCODE(maps, 6, 3, 0x10000, dims, strides, box, ones, 3));
    FAILS(ENCODE(NULL, 6, 3, 0x10000, dims, strides, box, ones, 3), CUDA_ERROR_INVALID_VALUE);
    OK(ENCODE((CUtensorMap *)(void *)((char *)maps + 8), 6, 3, 0x10000, dims, strides, box, ones,
              3)); /* though not at a multiple of 64 */
    FAILS(ENCODE(maps, 6, 0, 0x10000, dims, strides, box, ones, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(ENCODE(maps, 6, 6, 0x10000, dims, strides, box, ones, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(ENCODE(maps, 6, 3, 0x10000, NULL, strides, box, ones, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(ENCODE(maps, 6, 3, 0x10000, dims, NULL, box, ones, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(ENCODE(maps, 6, 3, 0x10000, dims, strides, NULL, ones, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(ENCODE(maps, 6, 3, 0x10000, dims, strides, box, NULL, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(ENCODE(maps, 6, 3, 0x10008, dims, strides, box, ones, 3), CUDA_ERROR_INVALID_VALUE);
    /* a swizzle of Blackwell's */
    FAILS(ENCODE(maps, 6, 3, 0x10000, dims, strides, box, ones, 4), CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        IN_CONTEXT(memory_is_exact),
        IN_CONTEXT(copies_over_the_end_are_refused),
        IN_CONTEXT(memory_is_copied_and_filled),
        IN_CONTEXT(fills_write_what_they_should_and_no_more),
        IN_CONTEXT(boxes_are_copied_row_by_row),
        IN_CONTEXT(slices_are_copied_one_behind_the_other),
        IN_CONTEXT(pitched_memory_is_wide_enough),
        IN_CONTEXT(the_total_is_what_there_is),
        IN_CONTEXT(a_pool_gives_and_takes_in_order),
        IN_CONTEXT(host_memory_has_an_address_for_kernels),
        IN_CONTEXT(memory_is_registered_once),
        IN_CONTEXT(what_cannot_be_shared_says_so),
        IN_CONTEXT(pointers_say_what_they_are),
        IN_CONTEXT(host_pointers_are_those_of_the_host),
        IN_CONTEXT(tensor_maps_get_all_arguments),
        IN_CONTEXT(tensor_maps_without_their_arguments_are_refused),
    };

    setenv("LATHE_EMU_ARCH", "sm_90a", 1);
    if (argc != 2 || driver_open(argv[1]))
        return 2;
    return cmocka_run_group_tests_name("emulator driver memory", tests, NULL, NULL);
}
