/**
 * What is different with claims in DynamoDB, as a small state machine of which every state is visited: takeover by measured
 * time or by observation, and completion within the transaction of the effect. What is the same in all stores is in the model of
 * the engine, in the module {@code autoconfigure}.
 */
package io.exactlyonce.dynamodb.model;
