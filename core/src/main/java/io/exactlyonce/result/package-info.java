/**
 * Internal: results of handlers and actions, stored with their claims as JSON.
 *
 * <p>This package uses {@code io.exactlyonce} and {@code claim}.
 */
@NullMarked
package io.exactlyonce.result;

import org.jspecify.annotations.NullMarked;
