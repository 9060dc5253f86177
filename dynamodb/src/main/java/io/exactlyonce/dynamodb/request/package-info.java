/**
 * Internal: requests to the service. Each request has many writes or reads. Throttled writes and reads are sent again.
 *
 * <p>This package uses {@code claim}, {@code dynamodb.item} and {@code time}.
 */
@NullMarked
package io.exactlyonce.dynamodb.request;

import org.jspecify.annotations.NullMarked;
