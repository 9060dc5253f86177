/**
 * Claims on idempotency keys: the contract of their store, and its values. Depends on neither Spring nor JDBC.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code time}.
 */
@NullMarked
package io.exactlyonce.claim;

import org.jspecify.annotations.NullMarked;
