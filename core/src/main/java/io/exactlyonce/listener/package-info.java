/**
 * Configures Spring Cloud AWS's containers for annotated methods. Only this package, its sub-packages and the
 * annotation depend on Spring Cloud AWS.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim.transaction}, {@code listener.container},
 * {@code listener.method}, {@code listener.observed} and {@code listener.startup}.
 */
@NullMarked
package io.exactlyonce.listener;

import org.jspecify.annotations.NullMarked;
