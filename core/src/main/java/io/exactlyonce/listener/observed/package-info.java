/**
 * Internal: listeners in observe mode. Such listeners run in Spring Cloud AWS's own containers, while wrappers observe
 * each message and its handler's outcome.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code delivery}, {@code listener.message}, {@code listener.method},
 * {@code listener.startup}, {@code observed} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.listener.observed;

import org.jspecify.annotations.NullMarked;
