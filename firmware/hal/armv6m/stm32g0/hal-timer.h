/* TIM2 has 32 bits and counts the core's cycles, since the bus's clock is not divided. */
enum { TIM_ENABLE = 1 };

static inline void hal_timer_start(void) {
    TIM2_CNT = 0;
    TIM2_CR1 = TIM_ENABLE;
}

static inline void hal_timer_stop(void) {
    TIM2_CR1 = 0;
}
