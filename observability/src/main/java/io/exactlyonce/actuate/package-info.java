/**
 * Internal: actuator endpoints for operators, and the health of claims.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code audit}, {@code claim}, {@code delivery}, {@code observe},
 * {@code observed}, {@code renewal}, {@code queue} and {@code window}.
 */
@NullMarked
package io.exactlyonce.actuate;

import org.jspecify.annotations.NullMarked;
