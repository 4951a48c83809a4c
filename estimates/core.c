#include "core.h"

#include <string.h>

static const core CORES[] = {
    {
        // ARM1176JZF-S Technical Reference Manual, DDI 0301H, chapter 16: cycle timings and
        // interlock behavior; tables 16-3 (registers needed early), 16-8 (multiplies), 16-10 to
        // 16-15 (loads and stores). Returns and branches: 16.7, predicted and not folded.
        .name = "arm1176",
        .width = 1,
        .early = 1,
        .address = 1,
        .address_loaded = 1,
        .words = 2,
        .taken_branch = 0,
        .returning = 3,
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
            },
        .line_bytes = 32,
        .l1_bytes = 16384,
        .l1_ways = 4,
        .l2_bytes = 131072,
        .l2_ways = 8,
        // ThomasKaiser/sbc-bench, 1niO.txt: 45 and 213 ns beyond L1, at 998 MHz.
        .l2_cycles = 35,
        .memory_cycles = 213,
    },
    {
        // Cortex-A53 in AArch32: latencies and slots as gcc/config/arm/cortex-a53.md of GCC
        // describes them (a sum 1 cycle, a product 2, a load 2 to what adds; 1 more to what shifts,
        // 1 or 2 to an address, 1 less to what is stored; of transfers, products and branches one a
        // cycle).
        .name = "cortex-a53",
        .width = 2,
        .early = 1,
        .address = 2,
        .address_loaded = 1,
        .words = 2,
        .taken_branch = 0,
        .returning = 1,
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
            },
        .line_bytes = 64,
        .l1_bytes = 32768,
        .l1_ways = 4,
        .l2_bytes = 524288,
        .l2_ways = 16,
        // ThomasKaiser/sbc-bench, 4hOp.txt: 8.4 to 9.8 and 85 ns beyond L1, at 1187 MHz.
        .l2_cycles = 11,
        .memory_cycles = 101,
    },
};

const core *core_named(const char *name) {
    for (unsigned i = 0; i < sizeof CORES / sizeof *CORES; i++)
        if (strcmp(CORES[i].name, name) == 0)
            return &CORES[i];
    return NULL;
}

enum { TRANSFER = 1, PRODUCT, JUMP, ANY };

// Of which there is one a cycle.
static unsigned unit_of(kind what) {
    switch (what) {
    case KIND_LOAD:
    case KIND_LOAD_SLOW:
    case KIND_LOAD_MANY:
    case KIND_STORE:
    case KIND_STORE_MANY:
    case KIND_OTHER:
        return TRANSFER;
    case KIND_MULTIPLY:
    case KIND_LONG:
        return PRODUCT;
    case KIND_BRANCH:
    case KIND_RETURN:
        return JUMP;
    default:
        return ANY;
    }
}

unsigned core_cycles(const core *where, const instruction *code, unsigned count) {
    unsigned ready[REGISTERS] = {0}; // when each register can be used by the stage that adds
    // As if the pipeline had been filled before: what is needed early is there.
    const unsigned base = where->address + 1;
    uint32_t loaded = 0; // registers whose value came from memory
    unsigned cycle = base, issued = 0, used = 0, extra = 0;
    for (unsigned i = 0; i < count; i++) {
        const instruction *now = &code[i];
        const cost *costs = &where->costs[now->kind];
        unsigned unit = unit_of(now->kind), earliest = cycle;
        for (unsigned r = 0; r < REGISTERS; r++) {
            if (!(now->reads >> r & 1))
                continue;
            unsigned needed = ready[r];
            if (now->address >> r & 1)
                needed += loaded >> r & 1 ? where->address_loaded : where->address;
            else if (now->early >> r & 1)
                needed += where->early;
            else if ((now->late >> r & 1) && needed > 0)
                needed -= 1;
            if (needed > earliest)
                earliest = needed;
        }
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
        uint32_t changed = now->writes | now->soon;
        bool loads = now->kind >= KIND_LOAD && now->kind <= KIND_LOAD_MANY;
        loaded = (loaded & ~changed) | (loads ? now->writes : 0);
        for (unsigned r = 0; r < REGISTERS; r++)
            if (now->writes >> r & 1)
                ready[r] = cycle + costs->latency + moves;
            else if (now->soon >> r & 1)
                ready[r] = cycle + 1;
        issued++;
        used |= 1u << unit;
        if (costs->issue + moves > 1) {
            cycle += costs->issue + moves - 1;
            issued = where->width;
        }
    }
    if (count > 0 && unit_of(code[count - 1].kind) == JUMP)
        extra = code[count - 1].kind == KIND_RETURN ? where->returning : where->taken_branch;
    return cycle + 1 - base + extra;
}
