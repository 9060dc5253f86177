/**
 * Claims on idempotency keys: the contract of claim stores, and the types of its arguments and results. Depends on
 * neither Spring nor JDBC.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code time}.
 */
@NullMarked
package io.exactlyonce.claim;

import org.jspecify.annotations.NullMarked;
