/**
 * A small state machine of the rules for claims that only DynamoDB has. Every state is visited. The rules are takeover
 * by measured time or by observation, and completion in the transaction of the effect. The model in the module {@code
 * integration-tests} has the rules of all stores.
 */
package io.exactlyonce.dynamodb.model;
