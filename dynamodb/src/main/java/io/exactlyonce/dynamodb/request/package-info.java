/**
 * Internal: requests to the service, many writes or reads at once, with retries, in the form that IAM allows.
 *
 * <p>This package uses {@code claim}, {@code dynamodb.item} and {@code time}.
 */
@NullMarked
package io.exactlyonce.dynamodb.request;

import org.jspecify.annotations.NullMarked;
