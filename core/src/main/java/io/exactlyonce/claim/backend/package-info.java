/**
 * Internal: parts that claim stores share: a check before the first container polls, turns of operators' calls, and the
 * state of a claim for operators.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code claim}.
 */
@NullMarked
package io.exactlyonce.claim.backend;

import org.jspecify.annotations.NullMarked;
