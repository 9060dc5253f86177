/**
 * Internal: configures Spring Cloud AWS's containers for annotated methods.
 *
 * <p>This package uses {@code claim.transaction}, {@code listener}, {@code listener.container}, {@code listener.method},
 * {@code listener.observed} and {@code listener.startup}.
 */
@NullMarked
package io.exactlyonce.listener.factory;

import org.jspecify.annotations.NullMarked;
