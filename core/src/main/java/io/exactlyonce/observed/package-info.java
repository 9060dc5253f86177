/**
 * Internal: claims beside handlers in observe mode, and counts of prevented duplicates. No handler waits here. It
 * depends on neither Spring Cloud AWS nor meters.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code delivery}, {@code fingerprint}, {@code time} and
 * {@code queue}.
 */
@NullMarked
package io.exactlyonce.observed;

import org.jspecify.annotations.NullMarked;
