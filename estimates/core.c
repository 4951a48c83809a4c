#include "core.h"

#include <string.h>

static const pipeline ARM1176 = {
    // ARM1176JZF-S Technical Reference Manual, DDI 0301H, chapter 16: cycle timings and interlock
    // behavior; tables 16-3 (registers needed early), 16-8 (multiplies), 16-10 to 16-15 (loads and
    // stores).
    .width = 1,
    .early = 1,
    .address = 1,
    .address_loaded = 1,
    .words = 2,
    .costs =
        {
            [KIND_ALU] = {1, 1},
            [KIND_ALU_SHIFT] = {1, 1},
            [KIND_ALU_BY_REG] = {2, 2},
            [KIND_MULTIPLY] = {2, 4},
            [KIND_LONG] = {3, 5},
            [KIND_LOAD] = {1, 3},
            [KIND_LOAD_SLOW] = {2, 4},
            [KIND_LOAD_MANY] = {1, 3},
            [KIND_STORE] = {1, 1},
            [KIND_STORE_MANY] = {1, 1},
            [KIND_BRANCH] = {1, 1},
            [KIND_RETURN] = {1, 1},
            [KIND_OTHER] = {1, 3},
            // Its floating-point unit is not modelled: costs as for other coprocessors.
            [KIND_VECTOR_FLOAT] = {1, 3},
            [KIND_VECTOR_LOAD] = {1, 3},
            [KIND_VECTOR_MOVE] = {1, 3},
        },
};

static const pipeline CORTEX_A53 = {
    // Latencies and slots as in GCC's gcc/config/arm/cortex-a53.md: a sum takes 1 cycle, a product
    // 2, a load 2 for an adding instruction; 1 more for an operand that is shifted, 1 or 2 more for
    // an address, 1 less for stored data. One transfer, product or branch per cycle.
    .width = 2,
    .early = 1,
    .address = 2,
    .address_loaded = 1,
    .added_sooner = 3,
    .words = 2,
    .costs =
        {
            [KIND_ALU] = {1, 1},
            [KIND_ALU_SHIFT] = {1, 1},
            [KIND_ALU_BY_REG] = {1, 1},
            [KIND_MULTIPLY] = {1, 2},
            [KIND_LONG] = {1, 2},
            [KIND_LOAD] = {1, 2},
            [KIND_LOAD_SLOW] = {1, 2},
            [KIND_LOAD_MANY] = {1, 3},
            [KIND_STORE] = {1, 1},
            [KIND_STORE_MANY] = {1, 1},
            [KIND_BRANCH] = {1, 1},
            [KIND_RETURN] = {1, 1},
            [KIND_OTHER] = {1, 4},
            // A64, as measured on a Raspberry Pi 3 by ocxtal/insn_bench_aarch64
            // (results/raspberry-pi-3_cortex-a53.md).
            [KIND_ALU_VARIABLE] = {1, 1},
            [KIND_WIDE] = {2, 3},
            [KIND_HIGH] = {4, 5},
            [KIND_DIVIDE] = {3, 3},
            [KIND_VECTOR_LOGIC] = {1, 1},
            [KIND_VECTOR] = {1, 2},
            [KIND_VECTOR_SUM] = {1, 3},
            [KIND_VECTOR_PRODUCT] = {1, 4},
            [KIND_VECTOR_FLOAT] = {1, 4},
            [KIND_VECTOR_LOAD] = {1, 3},
            [KIND_VECTOR_MOVE] = {1, 3},
            // Not available on that board: calibrated to the comments on the A53 in OpenSSL's
            // aesv8-armx.pl, sha1-armv8.pl and sha512-armv8.pl.
            [KIND_AES] = {1, 1},
            [KIND_SHA] = {1, 5},
        },
};

// Cortex-A53: caches as in Linux's bcm2837.dtsi; 8.4 to 9.8 and 85 ns beyond L1 at 1187 MHz
// (ThomasKaiser/sbc-bench, 4hOp.txt), random replacement in L1 (DDI 0500D, 2.1, which does not
// cover L2); a mispredicted branch takes 9 cycles (LLVM's AArch64SchedA53.td, from Arm's own table
// of timings), its predictor's size is inferred.
#define OF_CORTEX_A53                                                                              \
    .pipeline = &CORTEX_A53, .line_bytes = 64, .instructions = {32768, 2, true},                   \
    .data = {32768, 4, true}, .l2 = {524288, 16}, .l2_cycles = 11, .memory_cycles = 101,           \
    .counters = 4096, .history_bits = 8, .returns = 8, .mispredicted = 9, .returning = 1,          \
    .return_wrong = 9, .return_unknown = 9

// Silvermont: caches as in machines/intel-edison.toml; 17 cycles to L2 and 10 for a mispredicted
// branch (Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter on Silvermont;
// LLVM's X86ScheduleSLM.td); memory and predictor inferred. It executes out of order, so LLVM's
// model of its pipeline is used (src/joulemark/measure/scheduled.py).
#define OF_SILVERMONT                                                                              \
    .line_bytes = 64, .instructions = {32768, 8}, .data = {24576, 6}, .l2 = {1048576, 16},         \
    .l2_cycles = 14, .memory_cycles = 100, .counters = 4096, .history_bits = 8, .returns = 8,      \
    .mispredicted = 10, .returning = 1, .return_wrong = 10, .return_unknown = 10

static const core CORES[] = {
    {
        // Caches: ARM1176JZF-S as in the BCM2835; 45 and 213 ns beyond L1 at 998 MHz
        // (ThomasKaiser/sbc-bench, 1niO.txt); random replacement unless c1's bit RR is set (DDI
        // 0301H, 7.2), which Linux leaves clear (arch/arm/mm/proc-v6.S). Branches: DDI 0301H, 5.2
        // and table 16-11.
        .name = "arm1176",
        .target = "arm",
        .decode = a32_decode,
        .pipeline = &ARM1176,
        .line_bytes = 32,
        .instructions = {16384, 4, true},
        .data = {16384, 4, true},
        .l2 = {131072, 8},
        .l2_cycles = 35,
        .memory_cycles = 213,
        .counters = 128,
        .tagged = true,
        .returns = 3,
        .mispredicted = 5,
        .static_taken = 3,
        .returning = 3,
        .return_wrong = 6,
        .return_unknown = 4,
    },
    {.name = "cortex-a53", .target = "arm", .decode = a32_decode, OF_CORTEX_A53},
    {.name = "cortex-a53-a64", .target = "aarch64", .decode = a64_decode, OF_CORTEX_A53},
    {.name = "silvermont", .target = "i386", OF_SILVERMONT},
    {.name = "silvermont-64", .target = "x86_64", OF_SILVERMONT},
};

const core *core_named(const char *name) {
    for (unsigned i = 0; i < sizeof CORES / sizeof *CORES; i++)
        if (strcmp(CORES[i].name, name) == 0)
            return &CORES[i];
    return NULL;
}

enum { ANY, TRANSFER, PRODUCT, JUMP, WIDE };

// The unit that accepts one instruction per cycle.
static unsigned unit_of(const instruction *what) {
    switch (what->kind) {
    case KIND_LOAD:
    case KIND_LOAD_SLOW:
    case KIND_LOAD_MANY:
    case KIND_STORE:
    case KIND_STORE_MANY:
    case KIND_OTHER:
    case KIND_VECTOR_LOAD:
        return TRANSFER;
    case KIND_MULTIPLY:
    case KIND_LONG:
    case KIND_WIDE:
    case KIND_HIGH:
    case KIND_DIVIDE:
    case KIND_ALU_VARIABLE:
        return PRODUCT;
    case KIND_BRANCH:
    case KIND_RETURN:
        return JUMP;
    case KIND_VECTOR_LOGIC:
    case KIND_VECTOR:
    case KIND_VECTOR_SUM:
    case KIND_VECTOR_PRODUCT:
    case KIND_VECTOR_FLOAT:
        return what->half ? ANY : WIDE;
    case KIND_AES:
    case KIND_SHA:
    case KIND_VECTOR_MOVE:
        return WIDE;
    default:
        return ANY;
    }
}

static unsigned number_of(set one) {
    return (unsigned)__builtin_ctzll(one);
}

// Returns when all operands of an instruction are available.
static unsigned ready_for(const pipeline *where, const instruction *now, const unsigned *ready,
                          set loaded, set products) {
    unsigned latest = 0;
    for (set left = now->reads; left != 0; left &= left - 1) {
        set one = left & -left;
        unsigned needed = ready[number_of(one)];
        if (now->address & one)
            needed += loaded & one ? where->address_loaded : where->address;
        else if (now->early & one)
            needed += where->early;
        else if ((now->late & one) && needed > 0)
            needed -= 1;
        else if ((now->adds & one) && (products & one) && needed >= where->added_sooner)
            needed -= where->added_sooner;
        if (needed > latest)
            latest = needed;
    }
    return latest;
}

unsigned core_cycles(const pipeline *where, const instruction *code, unsigned count) {
    unsigned ready[REGISTERS] = {0}; // when the adding stage can use each register
    // As if the pipeline were already full: early operands are available.
    const unsigned base = where->address + 1;
    set loaded = 0,
        products = 0; // registers whose value came from memory, or is a vector product
    unsigned cycle = base, issued = 0, used = 0;
    for (unsigned i = 0; i < count; i++) {
        const instruction *now = &code[i];
        const cost *costs = &where->costs[now->kind];
        unsigned unit = unit_of(now);
        unsigned earliest = ready_for(where, now, ready, loaded, products);
        if (earliest > cycle) {
            cycle = earliest;
            issued = used = 0;
        } else if (issued == where->width || (unit != ANY && (used >> unit & 1))) {
            cycle++;
            issued = used = 0;
        }
        unsigned moves = 0;
        if (now->words > 0)
            moves = (now->words + where->words - 1) / where->words - 1;
        set changed = now->writes | now->soon;
        bool loads = (now->kind >= KIND_LOAD && now->kind <= KIND_LOAD_MANY);
        loaded = (loaded & ~changed) | (loads ? now->writes : 0);
        products = (products & ~changed) | (now->kind == KIND_VECTOR_PRODUCT ? now->writes : 0);
        for (set left = now->soon; left != 0; left &= left - 1)
            ready[number_of(left)] = cycle + 1;
        for (set left = now->writes; left != 0; left &= left - 1)
            ready[number_of(left)] = cycle + costs->latency + moves;
        issued++;
        used |= 1u << unit;
        if (costs->issue + moves > 1) {
            cycle += costs->issue + moves - 1;
            issued = where->width;
        }
    }
    return cycle + 1 - base;
}
