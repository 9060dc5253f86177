/**
 * Deliveries that wait for another holder of their key or for the store, and the circuit breaker that pauses polling. It uses
 * {@code delivery}.
 */
@NullMarked
package io.exactlyonce.delivery.waiting;

import org.jspecify.annotations.NullMarked;
