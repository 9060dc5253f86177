/**
 * Internal: measures the service's time from its responses and the monotonic clock, and decides whether a lease has
 * expired. The host's wall clock is never read.
 *
 * <p>This package uses {@code time}.
 */
@NullMarked
package io.exactlyonce.dynamodb.clock;

import org.jspecify.annotations.NullMarked;
