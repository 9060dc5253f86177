/**
 * Internal: parts that claim stores share. They are a check before the first container polls, a queue for operators'
 * calls, and the state of a claim for operators.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code claim}.
 */
@NullMarked
package io.exactlyonce.claim.backend;

import org.jspecify.annotations.NullMarked;
