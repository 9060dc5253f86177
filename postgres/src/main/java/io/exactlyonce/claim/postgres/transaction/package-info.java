/**
 * Internal: claims that are kept in the application's own transactions, for {@code effects = DATABASE}.
 *
 * <p>This package uses {@code claim}, {@code claim.postgres}, {@code claim.transaction}, {@code postgres} and {@code
 * primary}.
 */
@NullMarked
package io.exactlyonce.claim.postgres.transaction;

import org.jspecify.annotations.NullMarked;
