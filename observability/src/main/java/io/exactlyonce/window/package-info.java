/**
 * The visibility timeout of queues (the window) and the time that deliveries take: a warning before deliveries outlast it, and
 * how long it should be.
 */
@NullMarked
package io.exactlyonce.window;

import org.jspecify.annotations.NullMarked;
