/* The machine's own; nothing where there is no C library. Implementations include it for output
   that they are not built for here. */
#if __has_include_next(<stdlib.h>)
#include_next <stdlib.h>
#endif
