/**
 * Claims as items of one table of Amazon DynamoDB. Applications use {@link io.exactlyonce.dynamodb.DynamoDbCompletion}; the rest
 * is wiring's.
 */
@NullMarked
package io.exactlyonce.dynamodb;

import org.jspecify.annotations.NullMarked;
