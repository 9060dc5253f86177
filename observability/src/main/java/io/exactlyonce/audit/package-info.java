/**
 * Internal: audits queues for problems before the problems do harm. The rules compare a queue's attributes with its
 * listener's settings, and do no I/O. Attributes are read with the listener's own client.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code delivery}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.audit;

import org.jspecify.annotations.NullMarked;
