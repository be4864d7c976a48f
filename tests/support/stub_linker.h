/* stub_linker.h: how a test steers the stub of nvJitLink.
 *
 * libnvjitlink_stub.so exports the functions of nvJitLink that Lathe calls. It compiles nothing:
 * from PTX it reads the entry's name and its parameters, and makes a small ELF file that passes for
 * a cubin of that kernel, with the parameters' sizes in it, so that the stub driver takes it. The
 * functions below are exported beside, found by dlsym. Everything may be called from any thread. */
#ifndef STUB_LINKER_H
#define STUB_LINKER_H

enum stub_linker_mode {
    STUB_LINKS,   /* as it should be                                   */
    STUB_REFUSES, /* nvJitLinkAddData fails, with a line in the log     */
    STUB_EMPTY,   /* success, and a cubin without code                  */
    STUB_WARNS    /* success, with a C75xx warning and spills in the log */
};

typedef void (*stub_linker_set_function)(enum stub_linker_mode mode);
typedef int (*stub_linker_count_function)(void); /* links asked for since it was opened */
typedef void (*stub_linker_delay_function)(int milliseconds); /* that each link takes */

#define STUB_LINKER_SET "stub_linker_set"
#define STUB_LINKER_COUNT "stub_linker_count"
#define STUB_LINKER_DELAY "stub_linker_delay"

#endif
