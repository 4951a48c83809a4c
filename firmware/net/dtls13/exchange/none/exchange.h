/* No (EC)DHE: a pre-shared key alone. The other parts behind this interface are written like
   x25519. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "crypto.h"

#define EXCHANGE_GROUP 0

enum { EXCHANGE_OFFER_BYTES = 0, EXCHANGE_ANSWER_BYTES = 0 };

#endif
