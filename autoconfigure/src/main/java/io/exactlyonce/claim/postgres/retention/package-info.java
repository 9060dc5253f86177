/**
 * Deletes claims whose retention is over, batch by batch. Internal; it uses the store's {@code jdbc} and {@code schema}.
 */
@NullMarked
package io.exactlyonce.claim.postgres.retention;

import org.jspecify.annotations.NullMarked;
