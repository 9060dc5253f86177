/**
 * Internal: claims within application transactions, for handlers with {@code effects = DATABASE}. Depends on Spring's
 * transactions.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code claim}.
 */
@NullMarked
package io.exactlyonce.claim.transaction;

import org.jspecify.annotations.NullMarked;
