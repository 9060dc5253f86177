/**
 * Internal: compares queues' visibility timeouts with the latency of deliveries, warns before deliveries outlast them,
 * and recommends better timeouts.
 *
 * <p>This package uses {@code delivery}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.window;

import org.jspecify.annotations.NullMarked;
