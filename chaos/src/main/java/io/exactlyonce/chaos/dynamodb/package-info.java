/** DynamoDB in a run: DynamoDB Local, and a wire before it that adds the service's faults. */
@NullMarked
package io.exactlyonce.chaos.dynamodb;

import org.jspecify.annotations.NullMarked;
