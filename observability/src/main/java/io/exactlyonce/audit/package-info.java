/**
 * Internal: finds settings of queues and listeners that risk lost messages or repeated effects. The listener's own SQS
 * client reads the attributes of its queue. The rules then compare them with the listener's settings.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code delivery}, {@code time} and {@code queue}.
 */
@NullMarked
package io.exactlyonce.audit;

import org.jspecify.annotations.NullMarked;
