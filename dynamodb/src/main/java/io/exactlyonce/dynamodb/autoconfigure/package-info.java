/** Internal: wiring of claims in DynamoDB. This package may use every package, and no package uses it. */
@NullMarked
package io.exactlyonce.dynamodb.autoconfigure;

import org.jspecify.annotations.NullMarked;
