/**
 * Internal: runs code outside a listener once per key ({@link io.exactlyonce.ExactlyOnceOperations}), and applies
 * decisions on parked keys ({@link io.exactlyonce.ParkedKeys}).
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code claim.transaction}, {@code delivery}, {@code
 * delivery.pipeline}, {@code fingerprint}, {@code renewal}, {@code result} and {@code time}.
 */
@NullMarked
package io.exactlyonce.operations;

import org.jspecify.annotations.NullMarked;
