/**
 * Internal: a small connection pool that reaches only the primary and connects as the application connects, and the proof
 * that it does.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code postgres}.
 */
@NullMarked
package io.exactlyonce.primary;

import org.jspecify.annotations.NullMarked;
