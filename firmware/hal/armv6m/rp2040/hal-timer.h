/* The timer in microseconds, at the start and at the end. */
extern uint32_t hal_timer_us[2];

/* SysTick counts core cycles down, modulo 2^24, from 0; the timer counts on. */
static inline void hal_timer_start(void) {
    SYSTICK_RVR = 0xffffff;
    hal_timer_us[0] = TIMER_TIMERAWL;
    SYSTICK_CVR = 0;
    SYSTICK_CSR = SYSTICK_ENABLE | SYSTICK_OF_CORE;
}

static inline void hal_timer_stop(void) {
    SYSTICK_CSR = SYSTICK_OF_CORE;
    hal_timer_us[1] = TIMER_TIMERAWL;
}
