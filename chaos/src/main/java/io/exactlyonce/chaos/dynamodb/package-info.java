/** DynamoDB as a run sees it: DynamoDB Local, and before it a wire that has the faults of the service. */
@NullMarked
package io.exactlyonce.chaos.dynamodb;

import org.jspecify.annotations.NullMarked;
