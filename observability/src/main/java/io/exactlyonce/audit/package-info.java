/**
 * Internal: audits queues for problems before they do harm, by rules over a queue's attributes and its listener's
 * settings. The rules do no I/O. Attributes are read with the listener's own client.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code delivery}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.audit;

import org.jspecify.annotations.NullMarked;
