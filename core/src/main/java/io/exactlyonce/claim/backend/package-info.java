/**
 * Internal: code that all claim stores share. It checks the store before the first container polls, queues operators'
 * calls, and shows a claim's state to operators.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code claim}.
 */
@NullMarked
package io.exactlyonce.claim.backend;

import org.jspecify.annotations.NullMarked;
