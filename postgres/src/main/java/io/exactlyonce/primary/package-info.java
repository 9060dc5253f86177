/**
 * Internal: a small connection pool for claims, and checks of the pool. The pool connects only to the primary, with the
 * application's connection details.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code postgres}.
 */
@NullMarked
package io.exactlyonce.primary;

import org.jspecify.annotations.NullMarked;
