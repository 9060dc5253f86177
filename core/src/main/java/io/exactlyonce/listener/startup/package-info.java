/**
 * Internal: checks and log messages at a listener's startup. The log messages describe each listener, settings that do
 * not apply, queues and pools that listeners share, and queues that are unavailable.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim.transaction}, {@code delivery}, {@code listener.method},
 * {@code renewal} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.listener.startup;

import org.jspecify.annotations.NullMarked;
