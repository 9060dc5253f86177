/**
 * Internal: what stores of claims have in common: a check before the first container polls, turns of operators, and what
 * operators see.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code claim}.
 */
@NullMarked
package io.exactlyonce.claim.backend;

import org.jspecify.annotations.NullMarked;
