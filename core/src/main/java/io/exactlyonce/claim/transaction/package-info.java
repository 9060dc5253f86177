/**
 * Internal: claims within the transactions of the application, which a handler with {@code effects = DATABASE} needs of a
 * store. Depends on Spring's transactions.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code claim}.
 */
@NullMarked
package io.exactlyonce.claim.transaction;

import org.jspecify.annotations.NullMarked;
