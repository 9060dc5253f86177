/** Claims in the application's own transactions, for {@code effects = DATABASE}. Internal. */
@NullMarked
package io.exactlyonce.claim.postgres.transaction;

import org.jspecify.annotations.NullMarked;
