/**
 * Internal: observes deliveries: log context, observations (spans), application events, and counts and log lines of
 * prevented repeats. This package does not depend on meters.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code delivery}, {@code listener.message},
 * {@code renewal}, {@code time}, {@code queue} and {@code window}.
 */
@NullMarked
package io.exactlyonce.observe;

import org.jspecify.annotations.NullMarked;
