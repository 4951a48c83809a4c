/* What tests do to a driver's radio: let frames arrive, and inspect what was loaded. */
#ifndef AIR_H
#define AIR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is wrong with a frame apart from its contents. */
typedef enum {
    AIR_RIGHT,     /* nothing: its FCS is right too */
    AIR_FCS_WRONG, /* as after a disturbance */
    AIR_CUT,       /* its sender stops in the middle, and the radio hears noise to its end */
    AIR_LENGTH,    /* another length before it than it has, from 0 to 255; the FCS fits that */
    AIR_CROWD,     /* others, which nobody reads, before and behind it: the FIFO overflows */
    AIR_LIES,      /* the radio itself answers at random for a while */
    AIR_FAULTS
} air_fault;

/* Starts the driver, which accepts every frame. */
void air_start(void);

/* Lets a frame arrive, given without its FCS; `streams`: it is processed while it arrives. Returns
   false if the driver reports no frame, or no correct one. */
bool air_receive(const uint8_t *frame, uint8_t length, air_fault fault, bool streams);

/* Lets the radio answer correctly again. */
void air_calm(void);

/* Copies what was loaded to be sent, without its FCS; returns its length. */
uint8_t air_loaded(uint8_t *frame);

/* Whether the radio can have faults. */
extern const bool air_has_faults;

/* Returns a number below another, from the test's generator. */
uint32_t chance(uint32_t below);

#ifdef __cplusplus
}
#endif

#endif
