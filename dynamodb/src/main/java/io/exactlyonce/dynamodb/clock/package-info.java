/**
 * Internal: measures DynamoDB's clock by its responses and the monotonic clock, and decides whether a lease has
 * expired. This package never reads the host's wall clock.
 *
 * <p>This package uses {@code time}.
 */
@NullMarked
package io.exactlyonce.dynamodb.clock;

import org.jspecify.annotations.NullMarked;
