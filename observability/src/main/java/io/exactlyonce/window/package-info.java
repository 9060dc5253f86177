/**
 * Internal: compares the visibility timeouts of queues with the latency of deliveries, warns before deliveries take
 * longer than a timeout, and recommends better timeouts.
 *
 * <p>This package uses {@code delivery}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.window;

import org.jspecify.annotations.NullMarked;
