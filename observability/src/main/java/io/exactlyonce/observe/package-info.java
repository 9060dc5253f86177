/**
 * Internal: observes deliveries. This package sets the log context, makes observations (spans), publishes application
 * events, and counts and logs prevented repeats. This package does not depend on meters.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code delivery}, {@code listener.message},
 * {@code renewal}, {@code time}, {@code queue} and {@code window}.
 */
@NullMarked
package io.exactlyonce.observe;

import org.jspecify.annotations.NullMarked;
