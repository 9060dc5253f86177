/**
 * Foresees that a listener's deliveries will outlast their window, from nothing but a stream of times and latencies. Pure
 * arithmetic on the time that it is given: no clock, no thread, no logging.
 */
@NullMarked
package io.exactlyonce.window.foresight;

import org.jspecify.annotations.NullMarked;
