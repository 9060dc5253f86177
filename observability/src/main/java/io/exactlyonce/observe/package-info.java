/**
 * Internal: observes deliveries, with the log's context, observations (spans), application events, and counts and log lines
 * of prevented repeats. Depends on no meters.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code delivery}, {@code listener.message},
 * {@code renewal}, {@code time}, {@code queue} and {@code window}.
 */
@NullMarked
package io.exactlyonce.observe;

import org.jspecify.annotations.NullMarked;
