/**
 * The differences of claims in DynamoDB as a small state machine, of which every state is visited: takeover by measured
 * time or by observation, and completion within the transaction of the effect. The model in the module
 * {@code integration-tests} has the rules that hold for all stores.
 */
package io.exactlyonce.dynamodb.model;
