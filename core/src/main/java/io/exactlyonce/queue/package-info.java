/**
 * Internal: a queue of SQS, its attributes, its requests for visibility timeouts and deletes, and the subscription to
 * it.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.queue;

import org.jspecify.annotations.NullMarked;
