/**
 * Internal: a queue of SQS with its attributes, the requests that change visibility timeouts and delete messages, and a
 * listener's subscription to the queue.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.queue;

import org.jspecify.annotations.NullMarked;
