/**
 * Code outside a listener, run once per key: {@link io.exactlyonce.ExactlyOnceOperations}. It uses {@code claim},
 * {@code delivery}, {@code fingerprint} and {@code renewal}.
 */
@NullMarked
package io.exactlyonce.operations;

import org.jspecify.annotations.NullMarked;
