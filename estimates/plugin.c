// A plugin of QEMU in user mode: how many cycles a program would take on an in-order core.
//
// Each block of code is scheduled once, when it is translated, and then only counted. With
// cache=on each access to memory goes through a model of the core's data caches too.
//
// Arguments: core=NAME, out=FILE, cache=on.
#include "core.h"
#include "qemu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORTED int qemu_plugin_version = 1;

enum { LONGEST = 4096, LEVELS = 2, MOST_LINES = 16384 };

typedef struct block {
    struct block *next;
    uint64_t executed;
    uint64_t cycles;
    unsigned kinds[KINDS];
    unsigned instructions, unknown;
} block;

typedef struct {
    uint64_t lines[MOST_LINES]; // of each set the ways, the last used first; 0: none
    unsigned ways, sets;
    uint64_t misses;
} level;

static const core *where;
static const char *out_path;
static block *blocks;
static level levels[LEVELS];
static bool caches;
static uint64_t accesses;

static void level_init(level *made, unsigned bytes, unsigned ways) {
    made->ways = ways;
    made->sets = bytes / ways / where->line_bytes;
}

static bool hits(level *in, uint64_t line) {
    uint64_t *set = &in->lines[line % in->sets * in->ways];
    unsigned way = 0;
    while (way < in->ways - 1 && set[way] != line)
        way++;
    bool found = set[way] == line;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line;
    in->misses += !found;
    return found;
}

static void touched(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)vcpu, (void)info, (void)data;
    static uint64_t last;
    uint64_t line = address / where->line_bytes + 1;
    accesses++;
    if (line == last)
        return;
    last = line;
    if (!hits(&levels[0], line))
        hits(&levels[1], line);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    static instruction code[LONGEST];
    (void)id;
    block *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    size_t count = qemu_plugin_tb_n_insns(tb);
    for (size_t i = 0; i < count && i < LONGEST; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint32_t word = 0;
        if (qemu_plugin_insn_size(insn) == sizeof word) {
            memcpy(&word, qemu_plugin_insn_data(insn), sizeof word);
            code[i] = a32_decode(word);
        } else {
            code[i] = (instruction){.kind = KIND_OTHER};
            made->unknown++;
        }
        made->kinds[code[i].kind]++;
        made->instructions++;
        if (caches)
            qemu_plugin_register_vcpu_mem_cb(insn, touched, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, NULL);
    }
    made->cycles = core_cycles(where, code, made->instructions);
    made->next = blocks;
    blocks = made;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &made->executed, 1);
}

static void at_exit(qemu_plugin_id_t id, void *data) {
    static const char *const NAMES[KINDS] = {
        "alu",       "alu_shift", "alu_by_reg", "multiply", "long",   "load",  "load_slow",
        "load_many", "store",     "store_many", "branch",   "return", "other",
    };
    (void)id, (void)data;
    uint64_t cycles = 0, instructions = 0, unknown = 0, kinds[KINDS] = {0};
    for (const block *one = blocks; one != NULL; one = one->next) {
        cycles += one->executed * one->cycles;
        instructions += one->executed * one->instructions;
        unknown += one->executed * one->unknown;
        for (int k = 0; k < KINDS; k++)
            kinds[k] += one->executed * one->kinds[k];
    }
    FILE *out = fopen(out_path, "w");
    if (out == NULL) {
        perror(out_path);
        return;
    }
    fprintf(out,
            "{\"core\": \"%s\", \"cycles\": %" PRIu64 ", \"instructions\": %" PRIu64
            ", \"unknown\": %" PRIu64 ", \"accesses\": %" PRIu64 ", \"l1_misses\": %" PRIu64
            ", \"l2_misses\": %" PRIu64 ", \"miss_cycles\": %" PRIu64,
            where->name, cycles, instructions, unknown, accesses, levels[0].misses,
            levels[1].misses,
            (levels[0].misses - levels[1].misses) * where->l2_cycles +
                levels[1].misses * where->memory_cycles);
    for (int k = 0; k < KINDS; k++)
        fprintf(out, ", \"%s\": %" PRIu64, NAMES[k], kinds[k]);
    fprintf(out, "}\n");
    fclose(out);
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                 char **argv) {
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "core=", 5) == 0)
            where = core_named(argv[i] + 5);
        else if (strncmp(argv[i], "out=", 4) == 0)
            out_path = strdup(argv[i] + 4);
        else if (strcmp(argv[i], "cache=on") == 0)
            caches = true;
    }
    if (where == NULL || out_path == NULL || strcmp(info->target_name, "arm") != 0) {
        fprintf(stderr, "give core=arm1176 or core=cortex-a53, and out=FILE, to qemu-arm\n");
        return -1;
    }
    level_init(&levels[0], where->l1_bytes, where->l1_ways);
    level_init(&levels[1], where->l2_bytes, where->l2_ways);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
