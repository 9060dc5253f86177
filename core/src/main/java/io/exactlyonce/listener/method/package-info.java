/**
 * Internal: reads annotated methods, checks them, and calls them under claims.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code claim.transaction}, {@code delivery}, {@code
 * delivery.pipeline}, {@code fingerprint}, {@code listener.expression}, {@code listener.message}, {@code observed} and
 * {@code queue}.
 */
@NullMarked
package io.exactlyonce.listener.method;

import org.jspecify.annotations.NullMarked;
