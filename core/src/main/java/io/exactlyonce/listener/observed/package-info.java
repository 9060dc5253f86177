/**
 * Internal: listeners in observe mode. They run in Spring Cloud AWS's own containers. A wrapper around each listener
 * watches its messages, and how their handlers end.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code delivery}, {@code listener.message}, {@code listener.method},
 * {@code listener.startup}, {@code observed} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.listener.observed;

import org.jspecify.annotations.NullMarked;
