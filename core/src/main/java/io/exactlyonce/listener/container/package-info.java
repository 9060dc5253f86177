/**
 * Internal: one queue of a listener in Spring Cloud AWS's container: poll, back pressure, handlers, deletes, stop.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code delivery}, {@code delivery.pipeline}, {@code listener.message},
 * {@code listener.method}, {@code listener.startup}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.listener.container;

import org.jspecify.annotations.NullMarked;
