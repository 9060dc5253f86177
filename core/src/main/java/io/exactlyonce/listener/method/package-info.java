/**
 * The annotated method: read, checked, and called under a claim. Internal; it uses {@code delivery.pipeline},
 * {@code listener.expression} and {@code listener.message}.
 */
@NullMarked
package io.exactlyonce.listener.method;

import org.jspecify.annotations.NullMarked;
