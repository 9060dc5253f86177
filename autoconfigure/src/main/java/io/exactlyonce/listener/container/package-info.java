/**
 * The components of a container: poll, back pressure, sink. Internal; it hands deliveries to {@code delivery.pipeline}.
 */
@NullMarked
package io.exactlyonce.listener.container;

import org.jspecify.annotations.NullMarked;
