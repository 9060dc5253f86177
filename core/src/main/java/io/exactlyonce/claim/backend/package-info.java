/**
 * Internal: what stores of claims have in common: a check before the first container polls, and turns of operators.
 *
 * <p>This package uses {@code claim}.
 */
@NullMarked
package io.exactlyonce.claim.backend;

import org.jspecify.annotations.NullMarked;
