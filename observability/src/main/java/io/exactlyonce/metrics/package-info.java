/**
 * Internal: meters. The only package that depends on Micrometer's meters; no package but the wiring uses it.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code audit}, {@code claim}, {@code claim.postgres}, {@code delivery},
 * {@code observed}, {@code primary}, {@code renewal}, {@code queue} and {@code window}.
 */
@NullMarked
package io.exactlyonce.metrics;

import org.jspecify.annotations.NullMarked;
