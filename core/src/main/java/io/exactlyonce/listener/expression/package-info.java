/**
 * Internal: key and fingerprint expressions, which are checked when the application starts, and evaluated for each
 * message.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim} and {@code listener.message}.
 */
@NullMarked
package io.exactlyonce.listener.expression;

import org.jspecify.annotations.NullMarked;
