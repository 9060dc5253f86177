/**
 * Internal: meters. Only this package depends on Micrometer's meters, and only the auto-configuration uses this
 * package.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code audit}, {@code claim}, {@code claim.postgres}, {@code delivery},
 * {@code observed}, {@code primary}, {@code renewal}, {@code queue} and {@code window}.
 */
@NullMarked
package io.exactlyonce.metrics;

import org.jspecify.annotations.NullMarked;
