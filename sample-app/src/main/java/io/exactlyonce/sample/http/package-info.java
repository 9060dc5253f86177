/** An HTTP API whose requests carry an {@code Idempotency-Key}: exactly-once effects without a queue. */
@NullMarked
package io.exactlyonce.sample.http;

import org.jspecify.annotations.NullMarked;
