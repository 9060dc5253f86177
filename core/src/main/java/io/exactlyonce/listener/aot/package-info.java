/**
 * Internal: hints on listeners for ahead-of-time processing and native images.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code listener.expression} and {@code listener.method}.
 */
@NullMarked
package io.exactlyonce.listener.aot;

import org.jspecify.annotations.NullMarked;
