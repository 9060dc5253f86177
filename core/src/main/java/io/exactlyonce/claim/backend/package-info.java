/**
 * Internal: what stores of claims have in common: a check before the first container polls, and turns of operators. Uses only
 * {@code claim} and {@code boundary}.
 */
@NullMarked
package io.exactlyonce.claim.backend;

import org.jspecify.annotations.NullMarked;
