/**
 * One queue of a listener in Spring Cloud AWS's container: poll, back pressure, handlers, deletes, stop. Internal; it
 * hands deliveries to {@code delivery.pipeline}.
 */
@NullMarked
package io.exactlyonce.listener.container;

import org.jspecify.annotations.NullMarked;
