/**
 * Claims within the application's own transactions, for {@code effects = DATABASE}. Internal; it uses the store's statements.
 */
@NullMarked
package io.exactlyonce.claim.postgres.transaction;

import org.jspecify.annotations.NullMarked;
