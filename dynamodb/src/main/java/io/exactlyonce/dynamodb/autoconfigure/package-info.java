/** Wiring of claims in DynamoDB. */
@NullMarked
package io.exactlyonce.dynamodb.autoconfigure;

import org.jspecify.annotations.NullMarked;
