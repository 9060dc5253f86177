/**
 * Internal: claims as rows of one PostgreSQL table, {@link io.exactlyonce.claim.postgres.ClaimTable}. The package
 * contains the claim store, the steps that decide a batch, and the deletion of expired claims.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code claim.backend}, {@code postgres}, {@code primary}
 * and {@code time}.
 */
@NullMarked
package io.exactlyonce.claim.postgres;

import org.jspecify.annotations.NullMarked;
