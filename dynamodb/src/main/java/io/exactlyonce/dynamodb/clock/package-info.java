/**
 * What time it is at the service, measured from its answers and the monotonic clock, and whether a lease is over. No clock of
 * the host is read.
 */
@NullMarked
package io.exactlyonce.dynamodb.clock;

import org.jspecify.annotations.NullMarked;
