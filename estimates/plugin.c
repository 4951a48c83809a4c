// A plugin for QEMU in user mode: how many cycles a program would take on another core.
//
// Each block of code is decoded once, when it is translated. Execution is counted by pairs of
// consecutive blocks. At the end each pair is scheduled once, so that what a block leaves
// unfinished counts towards the next one. Branches are predicted and lines of code are fetched as
// blocks begin; with cache=on, data accesses go through a model of the data caches.
//
// If the core's pipeline is not modelled here, the pairs are written with the blocks' code.
//
// Arguments: core=NAME, out=FILE, cache=on.
#include "caches.h"
#include "predictor.h"
#include "qemu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORTED int qemu_plugin_version = 1;

// More instructions than QEMU ever puts into one block.
enum { LONGEST = 1024, LONGEST_INSTRUCTION = 16 };

typedef struct pair {
    struct pair *next;
    const struct block *to;
    uint64_t count;
} pair;

typedef struct block {
    struct block *next;
    pair *pairs;
    uint64_t start, end,
        last; // addresses: of its first byte, of the code after it, of its last instruction
    uint64_t first_line, last_line;
    ending ending;
    unsigned number, instructions, unknown;
    bool thumb;
    unsigned kinds[KINDS];
    instruction *decoded;
    uint8_t *code, *lengths;
} block;

static const core *where;
static const char *out_path;
static ending_of how_it_ends;
static block *blocks;
static block *previous;
static level code_level, data_level, l2;
static unsigned line_shift, count_of_blocks;
static bool caches;
static uint64_t accesses;

static void touched(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)vcpu, (void)info, (void)data;
    accesses++;
    level_use(&data_level, (address >> line_shift) + 1);
}

static pair *new_pair(block *from, const block *to) {
    pair *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->to = to;
    made->next = from->pairs;
    from->pairs = made;
    return made;
}

static void entered(unsigned vcpu, void *data) {
    (void)vcpu;
    block *now = data, *from = previous;
    previous = now;
    if (from != NULL) {
        pair *between = from->pairs;
        while (between != NULL && between->to != now)
            between = between->next;
        if (between == NULL)
            between = new_pair(from, now);
        between->count++;
        if (from->ending > ENDING_NONE)
            predictor_went(from->ending, from->last, from->end, now->start);
    }
    for (uint64_t line = now->first_line; line <= now->last_line; line++)
        level_use(&code_level, line);
}

// The block is taken to follow the one that ran before it was translated.
static void decode(block *made) {
    made->thumb =
        how_it_ends == ending_of_arm && t32_block(made->code, made->lengths, made->instructions,
                                                  made->start, previous != NULL && previous->thumb);
    uint8_t it = 0;
    const uint8_t *code = made->code;
    for (unsigned i = 0; i < made->instructions; i++) {
        unsigned length = made->lengths[i];
        uint32_t word = 0;
        if (i == made->instructions - 1)
            made->ending = made->thumb ? ending_of_thumb(code, length) : how_it_ends(code, length);
        if (where->pipeline != NULL) {
            instruction *now = &made->decoded[i];
            if (made->thumb) {
                *now = t32_decode(t32_code(code, length), length, &it);
            } else if (length == sizeof word) {
                memcpy(&word, code, sizeof word);
                *now = where->decode(word);
            } else {
                *now = (instruction){.kind = KIND_OTHER};
                made->unknown++;
            }
            made->kinds[now->kind]++;
        }
        code += length;
    }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(tb), bytes = 0;
    if (count > LONGEST)
        count = LONGEST;
    block *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->instructions = (unsigned)count;
    made->decoded = calloc(count, sizeof *made->decoded);
    made->code = malloc(count * LONGEST_INSTRUCTION);
    made->lengths = malloc(count);
    if (made->decoded == NULL || made->code == NULL || made->lengths == NULL)
        abort();
    made->start = qemu_plugin_tb_vaddr(tb);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        size_t length = qemu_plugin_insn_size(insn);
        memcpy(made->code + bytes, qemu_plugin_insn_data(insn), length);
        made->lengths[i] = (uint8_t)length;
        made->last = made->start + bytes;
        bytes += length;
        if (caches)
            qemu_plugin_register_vcpu_mem_cb(insn, touched, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, NULL);
    }
    decode(made);
    made->end = made->start + bytes;
    made->first_line = (made->start >> line_shift) + 1;
    made->last_line = ((made->end - 1) >> line_shift) + 1;
    made->number = count_of_blocks++;
    made->next = blocks;
    blocks = made;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, QEMU_PLUGIN_CB_NO_REGS, made);
}

// Returns the cycles that a block adds to those of the one before it.
static uint64_t cycles_after(const block *from, const block *to) {
    static instruction code[2 * LONGEST];
    memcpy(code, from->decoded, from->instructions * sizeof *code);
    memcpy(code + from->instructions, to->decoded, to->instructions * sizeof *code);
    unsigned both = core_cycles(where->pipeline, code, from->instructions + to->instructions);
    return both - core_cycles(where->pipeline, code, from->instructions);
}

static void write_code(FILE *out) {
    fprintf(out, ", \"blocks\": {");
    for (const block *one = blocks; one != NULL; one = one->next) {
        fprintf(out, "%s\"%u\": \"", one == blocks ? "" : ", ", one->number);
        const uint8_t *at = one->code;
        for (unsigned i = 0; i < one->instructions; i++) {
            for (unsigned k = 0; k < one->lengths[i]; k++)
                fprintf(out, "%02x", *at++);
            fprintf(out, i + 1 < one->instructions ? " " : "\"");
        }
    }
    fprintf(out, "}, \"pairs\": [");
    const char *between = "";
    for (const block *one = blocks; one != NULL; one = one->next)
        for (const pair *went = one->pairs; went != NULL; went = went->next) {
            fprintf(out, "%s[%u, %u, %" PRIu64 "]", between, one->number, went->to->number,
                    went->count);
            between = ", ";
        }
    fprintf(out, "]");
}

static void at_exit(qemu_plugin_id_t id, void *data) {
    static const char *const NAMES[KINDS] = {
        "alu",          "alu_shift",    "alu_by_reg",
        "multiply",     "long",         "load",
        "load_slow",    "load_many",    "store",
        "store_many",   "branch",       "return",
        "other",        "alu_variable", "wide",
        "high",         "divide",       "vector_logic",
        "vector",       "vector_sum",   "vector_product",
        "vector_float", "vector_load",  "vector_move",
        "aes",          "sha",
    };
    (void)id, (void)data;
    uint64_t cycles = 0, instructions = 0, unknown = 0, kinds[KINDS] = {0};
    for (const block *from = blocks; from != NULL; from = from->next)
        for (const pair *went = from->pairs; went != NULL; went = went->next) {
            instructions += went->count * went->to->instructions;
            unknown += went->count * went->to->unknown;
            for (int k = 0; k < KINDS; k++)
                kinds[k] += went->count * went->to->kinds[k];
            if (where->pipeline != NULL)
                cycles += went->count * cycles_after(from, went->to);
        }
    FILE *out = fopen(out_path, "w");
    if (out == NULL) {
        perror(out_path);
        return;
    }
    uint64_t missed = code_level.misses + data_level.misses;
    fprintf(out,
            "{\"core\": \"%s\", \"cycles\": %" PRIu64 ", \"instructions\": %" PRIu64
            ", \"unknown\": %" PRIu64 ", \"accesses\": %" PRIu64 ", \"l1_misses\": %" PRIu64
            ", \"l1i_misses\": %" PRIu64 ", \"l2_misses\": %" PRIu64 ", \"miss_cycles\": %" PRIu64
            ", \"mispredicted\": %" PRIu64 ", \"branch_cycles\": %" PRIu64,
            where->name, cycles, instructions, unknown, accesses, data_level.misses,
            code_level.misses, l2.misses,
            (missed - l2.misses) * where->l2_cycles + l2.misses * where->memory_cycles,
            predicted.mispredicted, predicted.cycles);
    if (where->pipeline != NULL)
        for (int k = 0; k < KINDS; k++)
            fprintf(out, ", \"%s\": %" PRIu64, NAMES[k], kinds[k]);
    else
        write_code(out);
    fprintf(out, "}\n");
    fclose(out);
}

static ending_of ending_for(const char *target) {
    if (strcmp(target, "arm") == 0)
        return ending_of_arm;
    if (strcmp(target, "aarch64") == 0)
        return ending_of_aarch64;
    return ending_of_x86;
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
    if (where == NULL || out_path == NULL || strcmp(info->target_name, where->target) != 0) {
        fprintf(stderr, "give core=NAME of a core that executes %s, and out=FILE\n",
                info->target_name);
        return -1;
    }
    how_it_ends = ending_for(info->target_name);
    line_shift = (unsigned)__builtin_ctz(where->line_bytes);
    level_init(&code_level, where->instructions, where->line_bytes, &l2);
    level_init(&data_level, where->data, where->line_bytes, &l2);
    level_init(&l2, where->l2, where->line_bytes, NULL);
    predictor_init(where);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
