/**
 * Internal: shows what deliveries do. This package adds delivery details to log lines, makes observations (spans),
 * publishes application events, and counts prevented repeats. Meters are in another package.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code delivery}, {@code listener.message},
 * {@code renewal}, {@code time}, {@code queue} and {@code window}.
 */
@NullMarked
package io.exactlyonce.observe;

import org.jspecify.annotations.NullMarked;
