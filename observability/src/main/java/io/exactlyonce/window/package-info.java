/**
 * Internal: measures how long deliveries take, and compares this with the queue's visibility timeout. Warns before
 * deliveries take longer, and recommends a better timeout.
 *
 * <p>This package uses {@code delivery}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.window;

import org.jspecify.annotations.NullMarked;
