/**
 * Internal: requests to DynamoDB, with many writes or reads in each. Throttled writes and reads are sent again.
 *
 * <p>This package uses {@code claim}, {@code dynamodb.item} and {@code time}.
 */
@NullMarked
package io.exactlyonce.dynamodb.request;

import org.jspecify.annotations.NullMarked;
