/** Claims on idempotency keys: the store's contract and its values. Knows neither Spring nor JDBC. */
@NullMarked
package io.exactlyonce.claim;

import org.jspecify.annotations.NullMarked;
