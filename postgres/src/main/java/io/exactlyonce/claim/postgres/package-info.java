/**
 * Claims as rows of one PostgreSQL table: the store, and the steps that decide a batch. Internal but for the two front doors,
 * the store and its parked claims; it uses {@code claim}, {@code primary} and its own {@code jdbc}.
 */
@NullMarked
package io.exactlyonce.claim.postgres;

import org.jspecify.annotations.NullMarked;
