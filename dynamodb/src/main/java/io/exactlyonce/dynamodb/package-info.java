/**
 * Claims as items of one table of Amazon DynamoDB. Applications use {@link io.exactlyonce.dynamodb.DynamoDbCompletion}.
 * The other classes are for the auto-configuration alone.
 *
 * <p>This package uses {@code io.exactlyonce}, {@code claim}, {@code claim.backend}, {@code dynamodb.clock}, {@code
 * dynamodb.item} and {@code dynamodb.request}.
 */
@NullMarked
package io.exactlyonce.dynamodb;

import org.jspecify.annotations.NullMarked;
